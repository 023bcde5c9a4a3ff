"""A run folder of any kind is read as far as comparing and tracking need it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import study_folder

from two_runs import HARD, RANDOM, run_folder
from unseen.errors import InputError
from unseen.reports.record import read_record
from unseen.runs.frame import report
from unseen.store import read_json, write_json


def test_what_a_stress_run_says(tmp_path: Path) -> None:
    run = read_record(run_folder(tmp_path, {"random": RANDOM, "closest": HARD}, metric="accuracy", seeds=[1, 2]))
    assert run.metric == "accuracy"
    assert run.settings == {"model": "minilm", "metric": "accuracy", "recipe.epochs": "3", "seeds": "1, 2"}
    assert run.versions == {"unseen": "0.1.0", "numpy": "2.0"}
    assert run.data["mails"]["fingerprint"] == "abc"
    assert run.splits["closest"].ids("test") == {"a", "b"}
    assert run.splits["closest"].data == "abc"


def test_what_a_study_says(tmp_path: Path) -> None:
    run = read_record(study_folder(tmp_path))
    assert (run.metric, run.settings) == ("f1.macro", {"model": "logistic"})
    assert {name: said["fingerprint"] for name, said in run.data.items()} == {"mails": "abc", "posts": "def"}
    assert len(run.splits) == 4


def test_the_file_of_a_study_is_read_as_settings(tmp_path: Path) -> None:
    study_folder(tmp_path)
    about = read_json(tmp_path / "run.json") | {"models": {"own": {"epochs": 3}}}
    write_json(tmp_path / "run.json", about | {"settings": {"file": "seeds = [1, 2]\n[data.mails]\nlimit = 5\n"}})
    assert read_record(tmp_path).settings == {
        "model": "logistic", "file.seeds": "1, 2", "file.data.mails.limit": "5", "models.own.epochs": "3",
    }  # fmt: skip
    write_json(tmp_path / "run.json", about | {"settings": {"file": "seeds ="}})
    assert read_record(tmp_path).settings["file"] == "seeds ="


def test_splits_of_earlier_settings_are_left_out(tmp_path: Path) -> None:
    run_folder(tmp_path, {"random": RANDOM, "closest": HARD})
    write_json(tmp_path / "run.json", read_json(tmp_path / "run.json") | {"splits": {"random": "random"}})
    assert list(read_record(tmp_path).splits) == ["random"]


def test_what_is_missing_or_damaged_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no run folder"):
        read_record(tmp_path / "nothing")
    with pytest.raises(InputError) as error:
        read_record(tmp_path)
    assert error.value.problems == ("run.json is missing", "measurements.csv is missing", "findings.csv is missing")
    run_folder(tmp_path, {"random": RANDOM})
    (tmp_path / "measurements.csv").write_text("metric\n")
    with pytest.raises(InputError, match="damaged") as error:
        read_record(tmp_path)
    assert "does not hold measurements" in error.value.problems[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"kind": "price"}', "does not hold a run of the kind stress"),
        ("{}", "does not hold a run of the kind stress"),
        ('{"kind": ["stress"]}', "does not hold a run of the kind stress"),
        ("[1]", "are damaged"),
        ("{", "are damaged"),
    ],
)
def test_the_kind_of_a_folder_is_what_run_json_names(content: str, said: str, tmp_path: Path) -> None:
    run_folder(tmp_path, {"random": RANDOM})
    assert read_record(tmp_path, "stress").kind == "stress"
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=said) as error:
        read_record(tmp_path, "stress")
    assert error.value.fix


def test_a_kind_that_nobody_knows_is_refused_with_the_way_out(tmp_path: Path) -> None:
    run_folder(tmp_path, {"random": RANDOM})
    for kind in ("tea", ["price"], None):
        write_json(tmp_path / "run.json", {"kind": kind, "command": "unseen brew x.csv"})
        with pytest.raises(InputError, match="no kind of run is called") as error:
            report(tmp_path)
        assert "unseen brew x.csv" in str(error.value.fix)
    assert not (tmp_path / "report.html").exists()


def test_numbers_are_found_by_their_tags(tmp_path: Path) -> None:
    record = read_record(run_folder(tmp_path, {"random": RANDOM, "closest": HARD}))
    assert [row.tags["seed"] for row in record.rows("f1.macro", family="closest", split="closest")] == [
        "42",
        "55",
        "83",
    ]
    assert record.value("f1.macro", family="closest", seed=("mean", None)) == pytest.approx(0.51)
    assert record.value("f1.macro", family="closest", split=None) == pytest.approx(0.51)
    assert record.value("f1.macro", "site=a", family="closest") is None
    assert record.row("f1.macro", family="nothing") is None
