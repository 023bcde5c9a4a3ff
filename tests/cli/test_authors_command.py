"""`unseen audit authors` on a small table."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
COMMON = "audit authors posts.csv --id id -a user"


@pytest.fixture
def do(folder: Path, unseen: Run) -> Run:
    """`do("authors …")` runs a command beside posts.csv."""
    return lambda command: unseen(*shlex.split(command))


def test_authors_are_described(do: Run) -> None:
    answer = do(f"{COMMON} --author user")
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0] == "How rows are spread over authors"
    # twelve authors of five posts each
    assert lines[2].split() == ["all", "rows", "60", "0", "%", "12", ".00", "8", "%", "17", "%", "42", "%", "83", "%"]
    assert "Predicting by author alone" in lines


def test_a_split_adds_its_own_rule(folder: Path, do: Run) -> None:
    assert do("split make posts.csv --id id --with random --test 0.3 -o hard.csv").code == 0
    said = json.loads(do("audit authors posts.csv --split hard.csv --id id -a user --author user --json").out)
    assert {row["tags"].get("rule") for row in said["measurements"]} == {None, "leave-one-out", "split"}
    assert said["report"] is None


def test_an_audit_is_a_folder_with_a_report(folder: Path, do: Run) -> None:
    answer = do(f"{COMMON} --author user --model logistic --trainings 1 --cap 2 -o out")
    assert answer.code == 0, answer.err
    assert "Random and unseen authors" in answer.out
    assert "report: out/report.html" in answer.out
    assert json.loads((folder / "out" / "run.json").read_text())["kind"] == "authors"
    assert "storm" not in (folder / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("gate", "code"), [("--gate findings.fail<=0", 1), ("--gate findings.fail<=0 --gate findings.warn<=0", 1), ("", 0)]
)
def test_a_finding_can_be_an_exit_code(gate: str, code: int, folder: Path, do: Run) -> None:
    rows = [
        f"{n},text {n},{'loud' if n % 3 else 'calm'},{f'u{n}' if n % 3 == 0 or n % 9 == 1 else 'u1'}" for n in range(90)
    ]
    (folder / "crowd.csv").write_text("\n".join(["id,text,label,user", *rows]))
    answer = do(f"audit authors crowd.csv --id id --author user {gate} --json")
    assert answer.code == code, answer.err
    said = json.loads(answer.out)
    assert said["passed"] == (code == 0)
    assert "fail" in {each["level"] for each in said["findings"] if each["check"] == "author_concentration"}


def test_without_authors_it_says_what_is_needed(do: Run) -> None:
    answer = do("audit authors posts.csv --id id")
    assert answer.code == 0, answer.err
    assert answer.out.startswith("skipped: Nothing is known about the authors, and no estimate was made")
    assert "--calibrate DATA" in answer.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--author user --trainings 2 --test 0.3", "--test 0.3 has no effect without --model"),
        ("--model logistic", "no effect without --author"),
        ("--author user --calibrate posts.csv --calibrate-author user", "--calibrate … has no effect with --author"),
        ("--calibrate posts.csv", "go together"),
        ("--calibrate posts.csv --calibrate-author user", "too few known authors"),
        ("--author usr", "did you mean 'user'"),
        ("--author user --gate findings.wran<=0", "counts findings of an unknown level"),
    ],
)
def test_wrong_options_write_nothing(options: str, said: str, folder: Path, do: Run) -> None:
    answer = do(f"{COMMON} {options} -o out")
    assert answer.code == 2
    assert said in answer.err
    assert not (folder / "out" / "report.html").exists()
