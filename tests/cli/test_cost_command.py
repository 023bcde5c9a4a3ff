"""`unseen model cost` as it is typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_models_are_measured_gates_judged_and_json_is_printed(folder: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "cost", "posts.csv", "--model", "logistic", "--model", "mine=svm", "--set", "logistic.C=1", "--hard", "none",
        "-n", "8", "--gate", "latency.p95<=60s", "--gate", "latency.p95 where model=mine <= 0.0001ms", "-o", "run",
        "--json", "-q",
    )  # fmt: skip
    answer = json.loads(done.out)
    assert done.code == 1
    assert [gate["passed"] for gate in answer["gates"]] == [True, True, False]
    assert {row["tags"]["model"] for row in answer["measurements"]} == {"logistic", "mine"}
    page = (folder / "run" / "report.html").read_text()
    assert "Estimated, not measured" in page
    assert "latency.p95 where model=mine &lt;= 0.0001ms" in page
    assert (folder / "run" / "tables" / "quality.csv").is_file()


def test_a_plan_trains_nothing(folder: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "model", "cost", "posts.csv", "--model", "logistic", "--model", "http://localhost:1/x", "--plan", "-q"
    )
    assert done.code == 0, done.err
    assert "candidates: logistic, http://localhost:1/x" in done.out
    assert "asked about" in done.out
    assert not (folder / "run").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--model", "logistic", "--budget", "memory=2XB"], "unknown unit"),
        (["--model", "logistic", "--lengths", "64,x"], "--lengths are whole numbers"),
        (["--model", "logistic", "--model", "logistic"], "two models are called 'logistic'"),
        (["--model", "logistc"], "did you mean 'logistic'?"),
        (["--model", "logistic", "--set", "C=1"], "MODEL.NAME=VALUE"),
        (["--model", "logistic", "--gate", "f1.macro<=5ms"], "f1.macro is not in seconds"),
        (["--model", "logistic", "--gate", "latency.p95<=50"], "does not say the unit"),
        (["--model", "logistic", "--gate", "latency.p96<=50ms"], "latency.p95"),
        (["--model", "logistic", "--gate", "latensy.p95<=50"], "latency.p95"),
        (["--model", "logistic", "--repeats", "1"], "at least 3"),
        (["--model", "logistic", "--suite", "hatecheck", "--data-dir", "known"], "hatecheck is not in known"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_one_message(
    folder: Path, unseen: Callable[..., Any], words: list[str], why: str
) -> None:
    done = unseen("cost", "posts.csv", *words, "-q")
    assert done.code == 2
    assert why in done.err
