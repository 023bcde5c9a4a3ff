"""`unseen run` as it is typed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STUDY = """
gates = ["fall.f1.macro where split=closest <= GATE"]
[data.sample]
limit = 200
[model.tfidf]
use = "logistic"
[space.tfidf]
[measure]
seen_folds = 1
[split.random]
[split.closest]
"""


@pytest.fixture
def do(folder: Path, unseen: Callable[..., Any]) -> Callable[[str], Any]:
    """Runs a command in a folder with a study."""
    (folder / "study.toml").write_text(STUDY.replace("GATE", "0.99"))
    return lambda command: unseen(*shlex.split(command))


def test_a_plan_says_what_would_be_done_and_writes_nothing(folder: Path, do: Callable[[str], Any]) -> None:
    before = sorted(folder.rglob("*"))
    answer = do("study run study.toml --plan")
    assert answer.code == 0, answer.err
    assert "to do  split sample.tfidf-own.closest.42" in answer.out
    assert "3 trainings, 0 done." in answer.out
    said = json.loads(do("study run study.toml --plan --json").out)
    assert (said["trainings"], said["done"]) == (3, 0)
    assert {each["step"] for each in said["list"]} >= {"split sample.random.42", "encode tfidf-own"}
    assert sorted(folder.rglob("*")) == before


def test_a_study_its_gate_and_its_report(folder: Path, do: Callable[[str], Any]) -> None:
    done = do("study run study.toml --engine inline")
    assert done.code == 0, done.err
    assert "closest in the space of tfidf-own: macro F1" in done.out.splitlines()[0]
    assert "gate passed: fall.f1.macro where split=closest <= 0.99: " in done.out
    assert done.out.splitlines()[-1] == "report: out/study/report.html"
    assert (folder / "unseen-steps").is_dir()
    (folder / "study.toml").write_text(STUDY.replace("GATE", "-0.99"))
    failed = do("study run study.toml --engine inline --json")
    assert failed.code == 1
    said = json.loads(failed.out)
    assert [each["passed"] for each in said["gates"]] == [False]
    assert said["verdict"][0] == done.out.splitlines()[0]
    (folder / "out" / "study" / "report.html").unlink()
    again = do("runs report out/study")
    assert again.code == 0, again.err
    assert again.out.splitlines()[0] == done.out.splitlines()[0]
    assert (folder / "out" / "study" / "report.html").exists()


def test_mistakes(folder: Path, do: Callable[[str], Any]) -> None:
    for command, said in (
        ("study run nothing.toml", "there is no file nothing.toml\n  what to do: "),
        ("study run study.toml --engine loca", "did you mean 'local'?"),
        ("study run study.toml --engine inline --workers 2", "workers"),
        ("study run study.toml --address auto", "address"),
        ("study run study.toml --workers 0", "at least 1"),
    ):
        answer = do(command)
        assert answer.code == 2
        assert said in answer.err
    (folder / "study.toml").write_text(STUDY.replace("GATE", "1").replace("limit", "limt"))
    answer = do("study run study.toml")
    assert answer.code == 2
    assert "did you mean 'limit'?" in answer.err
    assert not (folder / "out").exists()
