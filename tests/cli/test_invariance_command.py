from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def posts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    words = {"F": ("garden", "lovely"), "M": ("engine", "solid")}
    rows = [(f"t{n}", f"{words['FM'[n % 2]][n // 2 % 2]} thing number {n}", "FM"[n % 2], n % 9) for n in range(80)]
    write(tmp_path / "a.csv", "id,text,gender,author,calm", [(*row, row[1].lower()) for row in rows])
    write(tmp_path / "b.csv", "id,text", [(row[0], row[1].replace("lovely", "solid")) for row in reversed(rows)])
    write(tmp_path / "train.csv", "text,gender", [(f"{row[1]} again", row[2]) for row in rows])
    write(tmp_path / "short.csv", "id,text", [(row[0], row[1]) for row in rows[:70]])
    write(
        tmp_path / "holes.csv", "id,text,gender", [(row[0], row[1], row[2] if n else "") for n, row in enumerate(rows)]
    )
    return tmp_path


def write(path: Path, header: str, rows: Any) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


TRAINED = ("--property", "gender", "--train", "train.csv", "--set", "C=1", "--folds", "0", "-q")


def test_files_columns_and_perturbations_are_judged_together(posts: Path, unseen: Callable[..., Any]) -> None:
    done = unseen(
        "audit", "invariance", "a.csv", *TRAINED, "--transformed", "b.csv", "--transformed", "small=calm", "--with",
        "lower", "--gate", "flip_rate where transformation=small <= 0", "--out", "run", "--json", "--texts",
    )  # fmt: skip
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    rates = {
        row["tags"]["transformation"]: row["value"] for row in answer["measurements"]
        if row["metric"] == "flip_rate" and row["slice"] == "all"
    }  # fmt: skip
    assert rates == {"b": 0.25, "small": 0, "lower": 0}
    header, *flips = (posts / "run" / "flips.csv").read_text().splitlines()
    assert header.endswith("original,transformed")
    assert all("lovely" in line and "solid" in line for line in flips)
    assert len(flips) == 20


def test_a_gate_that_is_missed_is_exit_code_1(posts: Path, unseen: Callable[..., Any]) -> None:
    done = unseen("audit", "invariance", "a.csv", *TRAINED, "--transformed", "b.csv", "--gate", "flip_rate<=0.1")
    assert done.code == 1
    assert "gate FAILED: flip_rate<=0.1: .250" in done.out


def test_a_function_needs_trust(posts: Path, unseen: Callable[..., Any]) -> None:
    (posts / "mine.py").write_text("def shorter(texts):\n    return [text[:-1] for text in texts]\n")
    done = unseen("audit", "invariance", "a.csv", *TRAINED, "--transform", "mine:shorter")
    assert done.code == 2
    assert "--trust" in done.err
    assert unseen("audit", "invariance", "a.csv", *TRAINED, "--transform", "mine:shorter", "--trust").code == 0
    assert unseen("model", "train", "train.csv", "--label", "gender", "--model", "logistic", "-o", "model").code == 0
    asked = ["audit", "invariance", "a.csv", "--property", "gender", "--model", "model", "--with", "lower", "-q"]
    assert unseen(*asked, "--transform", "mine:shorter", "--trust").code == 0  # --trust is the function's alone
    assert "'trust' is not a parameter" in unseen(*asked, "--trust").err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("a.csv", *TRAINED), "no transformation is named"),
        (("a.csv", *TRAINED, "--transformed", "gone.csv"), "there is no file gone.csv"),
        (("a.csv", *TRAINED, "--transformed", "german"), "german"),
        (("a.csv", *TRAINED, "--transformed", "short.csv"), "lacks 10 of the 80 texts"),
        (("a.csv", *TRAINED, "--transformed", "b.csv", "--transformed", "b=calm"), "two transformations"),
        (("a.csv", "--property", "sex", "--with", "lower", "--train", "train.csv"), "sex"),
        (("holes.csv", *TRAINED, "--with", "lower"), "label"),
        (("a.csv", *TRAINED, "--with", "lower", "--label", "gender"), "--label"),
    ],
    ids=["nothing", "no-file", "no-column", "short", "twice", "no-property", "holes", "label"],
)
def test_mistakes_are_told(posts: Path, unseen: Callable[..., Any], words: tuple[str, ...], message: str) -> None:
    done = unseen("audit", "invariance", *words)
    assert done.code == 2
    assert message in done.err
