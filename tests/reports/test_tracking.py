"""What is logged of a run, under which names, to services that are played by small fakes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from two_runs import HARD, RANDOM, run_folder, summaries
from unseen.errors import InputError, MissingPackageError, UnknownNameError, UnseenError
from unseen.reports.record import read_record
from unseen.reports.tracking import MLFLOW_NAME, WANDB_NAME, allowed, record_of, track
from unseen.store import read_json, write_json, write_predictions, write_text
from unseen.types import Measurement, Predictions, string_array

TABLE = "predictions/closest-seed42.parquet"


class Context:
    """A run that is open inside a with block."""

    def __init__(self, calls: list[Any], **fields: Any) -> None:
        self.calls = calls
        vars(self).update(fields)

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self.calls.append(("end", "failed" if kind else "finished"))


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> Any:
    module, calls = ModuleType("mlflow"), []
    module.calls = calls
    module.known = {"old": SimpleNamespace(experiment_id="1")}
    module.active_run = lambda: None
    module.get_experiment_by_name = module.known.get
    module.create_experiment = lambda name: calls.append(("create", name)) or "2"
    module.start_run = lambda **given: (
        calls.append(("start", given)) or Context(calls, info=SimpleNamespace(run_id="r1"))
    )
    for name in ("log_params", "set_tags", "log_metrics"):
        setattr(module, name, lambda content, name=name: calls.append((name, content)))
    module.log_artifact = lambda path, artifact_path: calls.append(("file", (Path(path).name, artifact_path)))
    module.get_tracking_uri = lambda: "file:///store"
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return module


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Any:
    module, calls = ModuleType("wandb"), []
    module.calls = calls

    class Artifact:
        def __init__(self, name: str, type: str) -> None:
            self.name, self.type, self.files = name, type, []

        def add_file(self, path: str, name: str) -> None:
            assert Path(path).is_file()
            self.files.append(name)

    def init(**given: Any) -> Context:
        calls.append(("init", given))
        return Context(
            calls, id="w1", url=None, log=lambda content: calls.append(("log", content)),
            log_artifact=lambda artifact: calls.append(("artifact", artifact)),
        )  # fmt: skip

    module.init, module.Artifact = init, Artifact
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = run_folder(tmp_path / "my run", {"random": RANDOM, "closest": HARD}, letters={"closest": "TTRRRDII"})
    write_text(made / "report.html", "<p>report</p>")
    write_text(made / "card.md", "card")
    write_text(made / "examples.json", "{}")
    return made


def write_table(folder: Path) -> None:
    """What one training said about two texts."""
    write_predictions(Predictions(string_array(["a", "b"]), np.eye(2), ("spam", "ham")), folder / TABLE)


def called(module: Any, name: str) -> list[Any]:
    return [content for kind, content in module.calls if kind == name]


def test_means_and_falls_are_the_metrics(folder: Path) -> None:
    metrics = record_of(read_record(folder)).metrics
    assert metrics["f1.macro/closest/test"] == pytest.approx(0.51)
    assert metrics["fall.f1.macro/closest/test"] == pytest.approx(0.30)
    assert metrics["fall.f1.macro/closest/test.high"] == pytest.approx(0.35)
    assert {name.removesuffix(".low").removesuffix(".high") for name in metrics} == {
        "f1.macro/random/test", "f1.macro/closest/test", "fall.f1.macro/closest/test",
    }  # fmt: skip


def test_setups_are_in_the_name_only_where_there_are_several(tmp_path: Path) -> None:
    scores = {"random": RANDOM, "closest": HARD}
    rows = [row for data in ("mails", "posts") for row in summaries(scores, data=data, space="a/b")]
    rows.append(Measurement("standard_error.f1.macro", 0.1, 2, tags={"family": "random", "seed": "mean"}))
    rows.append(Measurement("f1.macro", 0.1, 2, slice="x=1", tags={"family": "random", "seed": "mean"}))
    metrics = record_of(read_record(run_folder(tmp_path, {}, rows))).metrics
    assert {"f1.macro/closest/test/mails", "f1.macro/closest/test/posts"} <= metrics.keys()
    assert not any("a_b" in name or "minilm" in name or name.startswith("standard") for name in metrics)
    assert len(metrics) == 3 * 2 * 3


def test_mlflow_gets_everything(folder: Path, mlflow: Any) -> None:
    found = track(folder, "mlflow", project="new", description="x")
    assert (found.run, found.address, found.metrics, found.files) == ("r1", "file:///store", 9, 5)
    assert called(mlflow, "create") == ["new"]
    assert called(mlflow, "start") == [
        {"run_name": "my run", "nested": False, "experiment_id": "2", "description": "x"}
    ]
    assert called(mlflow, "log_params") == [{"model": "minilm", "metric": "f1.macro", "recipe.epochs": "3"}]
    assert called(mlflow, "set_tags") == [
        {"version.unseen": "0.1.0", "version.numpy": "2.0", "fingerprint.mails": "abc",
         "command": "unseen stress mails.csv --model minilm"}
    ]  # fmt: skip
    assert called(mlflow, "file") == [
        ("report.html", None), ("card.md", None), ("measurements.csv", None),
        ("closest.csv", "splits"), ("closest.json", "splits"),
    ]  # fmt: skip
    assert mlflow.calls[-1] == ("end", "finished")


def test_an_experiment_that_exists_and_an_open_run(folder: Path, mlflow: Any) -> None:
    mlflow.active_run = lambda: object()
    track(folder, project="old")
    track(folder)
    first, second = called(mlflow, "start")
    assert (first["experiment_id"], first["nested"]) == ("1", True)
    assert "experiment_id" not in second
    assert called(mlflow, "create") == []


def test_mlflow_gets_no_more_at_a_time_than_it_takes(tmp_path: Path, mlflow: Any) -> None:
    many = {f"knob{each}": "x" * 9000 for each in range(150)}
    track(run_folder(tmp_path, {"random": RANDOM}, recipe=many))
    sizes = [len(some) for some in called(mlflow, "log_params")]
    assert sizes == [100, 52]
    assert max(len(value) for some in called(mlflow, "log_params") for value in some.values()) == 5000


def test_wandb_gets_everything(folder: Path, wandb: Any) -> None:
    found = track(folder, "wandb", project="p")
    assert (found.to, found.run, found.address) == ("wandb", "w1", "")
    (given,) = called(wandb, "init")
    assert (given["project"], given["name"], given["tags"]) == ("p", "my run", ["data abc"])
    assert given["config"]["recipe_epochs"] == "3"
    assert given["config"]["command"].startswith("unseen stress")
    (metrics,) = called(wandb, "log")
    assert metrics["f1_macro_closest_test"] == pytest.approx(0.51)
    (artifact,) = called(wandb, "artifact")
    assert artifact.name == "unseen-my_run"
    assert artifact.files == ["report.html", "card.md", "measurements.csv", "splits/closest.csv", "splits/closest.json"]
    assert wandb.calls[-1] == ("end", "finished")


def test_the_mode_of_wandb_is_the_users(folder: Path, wandb: Any) -> None:
    track(folder, "wandb")
    track(folder, "wandb", mode="offline")
    first, second = called(wandb, "init")
    assert not {"mode", "project"} & first.keys()
    assert second["mode"] == "offline"


def test_a_report_with_texts_stays_here_unless_asked_for(tmp_path: Path) -> None:
    run_folder(tmp_path, {"random": RANDOM}, texts=True)
    write_text(tmp_path / "report.html", "a text")
    assert "report.html" not in record_of(read_record(tmp_path)).files
    assert "report.html" in record_of(read_record(tmp_path), texts=True).files


@pytest.mark.parametrize(
    ("wrong", "fits"), [(MLFLOW_NAME, r"[\w.\-/ ]{1,40}"), (WANDB_NAME, r"[_a-zA-Z][_a-zA-Z0-9]{0,39}")]
)
def test_names_are_what_the_service_takes_and_stay_apart(wrong: re.Pattern[str], fits: str) -> None:
    names = ["f1[ä b]", "f1[a|b]", "f1[a:b]", "1x", "", "/a", "..", "é" * 3, *("y" * 50 + end for end in "ab")]
    found = allowed({name: place for place, name in enumerate(names)}, wrong, 40)
    assert list(found.values()) == list(range(len(names)))
    assert all(re.fullmatch(fits, name, re.ASCII) and name[0] not in "./" for name in found)


def test_refusals(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="no tracker is called 'mlfow'; did you mean 'mlflow'"):
        track(folder, "mlfow")
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingPackageError, match="Weights & Biases needs the package 'wandb'") as error:
        track(folder, "wandb")
    assert error.value.fix == "pip install 'unseen[wandb]'"
    monkeypatch.setitem(sys.modules, "wandb", ModuleType("wandb"))
    with pytest.raises(MissingPackageError):
        track(folder, "wandb")
    write_json(folder / "run.json", read_json(folder / "run.json") | {"finished": None})
    with pytest.raises(InputError, match="is not finished"):
        track(folder, "wandb")


def test_what_the_service_says_is_said(folder: Path, mlflow: Any) -> None:
    def refuse(content: Any) -> None:
        raise RuntimeError("no such server")

    mlflow.log_metrics = refuse
    with pytest.raises(UnseenError, match="MLflow did not take the run: RuntimeError: no such server"):
        track(folder)
    assert mlflow.calls[-1] == ("end", "failed")


@pytest.mark.slow
@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_a_real_store_holds_the_run(store: str, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    if store == "sqlite":
        pytest.importorskip("sqlalchemy")
        pytest.importorskip("alembic")
    write_table(folder)
    before = real.get_tracking_uri()
    real.set_tracking_uri("sqlite:///store.db" if store == "sqlite" else (tmp_path / "store").as_uri())
    try:
        found = track(folder, project="letters")
        table = real.artifacts.download_artifacts(run_id=found.run, artifact_path=TABLE, dst_path=str(tmp_path))
        run = real.get_run(found.run)
        names = [each.path for each in real.MlflowClient().list_artifacts(found.run)]
    finally:
        real.set_tracking_uri(before)
    assert run.data.metrics["f1.macro/closest/test"] == pytest.approx(0.51)
    assert run.data.params["recipe.epochs"] == "3"
    assert run.data.tags["fingerprint.mails"] == "abc"
    assert run.data.metrics["f1.macro/closest/test.low"] < 0.51
    assert run.info.status == "FINISHED"
    assert sorted(names) == ["card.md", "measurements.csv", "predictions", "report.html", "splits"]
    assert pq.read_table(table)["id"].to_pylist() == ["a", "b"]


@pytest.mark.slow
def test_wandb_itself_takes_the_table_of_texts(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    write_table(folder)
    monkeypatch.setenv("WANDB_SILENT", "true")
    logged = track(folder, "wandb", mode="offline", dir=str(tmp_path))
    assert logged.files == 6
    assert [*tmp_path.rglob("*.wandb")]
