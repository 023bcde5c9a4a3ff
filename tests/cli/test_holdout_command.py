"""`unseen data suite holdout`: the command alone, from files to a verdict."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from learning_suite import small_suite, small_task
from unseen.cli.options import pairs
from unseen.cli.suite import holdout
from unseen.errors import InputError, UnknownNameError
from unseen.store import read_json
from unseen.types import Dataset

app = typer.Typer()
app.command()(holdout)
LIGHT = ("--set", "epochs=2", "--set", "width=8", "--set", "bottleneck=8")
MAPPED = ("--map", "insult=rude", "--map", "other=fine")


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def write(data: Dataset, path: Path, **renamed: str) -> None:
    columns = ["id", "text", "label", *data.attributes]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([renamed.get(name, name) for name in columns])
        writer.writerows(zip(*(data.table[name].to_pylist() for name in columns), strict=True))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(small_suite(), tmp_path / "cases.csv", target="about")
    write(small_task(), tmp_path / "posts.csv", text="post", label="kind")
    write(small_task(50, 2), tmp_path / "more.csv", text="post", label="kind")


COLUMNS = ("--task-text", "post", "--task-label", "kind")


def test_from_files_to_a_verdict() -> None:
    given = (
        "cases.csv",
        "--task",
        "posts.csv",
        *COLUMNS,
        *MAPPED,
        "--column",
        "target=about",
        "--hold-out",
        "all,target",
    )
    done = run(*given, "--elsewhere", "more.csv", "--out", "out", "--texts", *LIGHT)
    assert done.exit_code == 0, done.output
    assert "126 cases, 240 texts of the task; plans: all 1, target 2; 7 trainings" in done.stderr
    assert done.stdout.endswith("report: out/report.html\n")
    assert "Of held-out targets" in done.stdout
    about = read_json("out/run.json")
    assert about["settings"]["labels"] == {"insult": "rude", "other": "fine"}
    assert about["datasets"]["elsewhere"]["rows"] == 50
    assert "Show the texts: they may offend" in Path("out/report.html").read_text(encoding="utf-8")
    again = run(*given, "--elsewhere", "more.csv", "--out", "out", *LIGHT, "--json", "--quiet")
    told = json.loads(again.stdout)
    assert again.stderr == ""
    assert told["verdict"] == done.stdout.splitlines()[:-2]
    held_out = [
        each for each in told["measurements"] if each["metric"] == "accuracy" and each["tags"]["part"] == "held-out"
    ]
    assert {each["tags"]["configuration"] for each in held_out} == {"task", "suite", "task then suite"}
    assert "Show the texts" not in Path("out/report.html").read_text(encoding="utf-8")


def test_options_reach_the_run() -> None:
    done = run(
        "cases.csv", "--task", "posts.csv", *COLUMNS, *MAPPED, "--hold-out", "pair", "--trained-on", "task,suite",
        "--folds", 2, "--published", "--seed", 7, "--model", "logistic", "-o", "there", "-q",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    settings = read_json("there/run.json")["settings"]
    assert (settings["strict"], settings["folds"], settings["seed"]) == (False, 2, 7)
    assert settings["configurations"] == ["task", "suite"]
    assert "This run pools validation as published" in Path("there/report.html").read_text(encoding="utf-8")


def test_wrong_input() -> None:
    given = ("cases.csv", "--task", "posts.csv", *COLUMNS)
    for words, error, said in (
        ((*given,), InputError, "each to be one of"),
        ((*given, *MAPPED, "--hold-out", "functionalty"), UnknownNameError, "did you mean 'functionality'"),
        ((*given, *MAPPED, "--hold-out", "target"), InputError, "needs the attribute 'target'"),
        ((*given, *MAPPED, "--model", "svm"), InputError, "one of transformer, adaptive, neural"),
        (("cases.csv", "--task", "posts.csv", *MAPPED), InputError, "no column called 'text'"),
        (
            ("posts.csv", "--task", "posts.csv", "--column", "text=post", "--column", "label=kind"),
            InputError,
            "not a suite",
        ),
    ):
        with pytest.raises(error) as caught:
            run(*words)
        assert said in str(caught.value)
    assert not Path("out").exists()


def test_pairs_are_said_once() -> None:
    assert pairs(["a=b", "c = d=e"], "--map") == {"a": "b", "c": "d=e"}
    for wrong, said in ((["a"], "not a pair"), (["=b"], "not a pair"), (["a=b", "a=c"], "says twice what 'a' is")):
        with pytest.raises(InputError, match=said):
            pairs(wrong, "--map")
