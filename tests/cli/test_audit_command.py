"""`unseen audit` as a gate, a table and a report."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
COLUMNS = ["--text", "text", "--label", "label", "--id", "id"]


@pytest.fixture
def split(folder: Path, unseen: Run) -> str:
    made = unseen("split", "posts.csv", *COLUMNS, "--with", "random", "--test", "0.2", "-o", "random.csv")
    assert made.code == 0, made.err
    return "random.csv"


def test_an_audit_fails_on_authors_and_writes_a_report(split: str, unseen: Run) -> None:
    answer = unseen("audit", "posts.csv", split, *COLUMNS, "--author", "user", "-o", "audited", "--texts")
    assert answer.code == 1, answer.err
    assert "fail" in answer.out
    assert "authors are on both sides" in answer.out
    assert answer.out.rstrip().endswith("report: audited/report.html")
    with open("audited/leaks.csv", encoding="utf-8", newline="") as file:
        leaks = [row for row in csv.DictReader(file) if row["kind"] == "author"]
    assert leaks
    assert all(row["test_text"] and row["train_id"] for row in leaks)
    page = Path("audited/report.html").read_text(encoding="utf-8")
    assert "not sound" in page
    assert "by authors who also wrote training texts" in page
    again = unseen("report", "audited", "--json")
    assert json.loads(again.out)["level"] == "fail"


def test_json_has_every_check_and_texts_stay_home(split: str, unseen: Run) -> None:
    answer = unseen("audit", "posts.csv", split, *COLUMNS, "--fail-on", "never", "--json", "-o", "audited")
    assert answer.code == 0, answer.err
    said = json.loads(answer.out)
    levels = {finding["check"]: finding["level"] for finding in said["findings"]}
    assert levels["author"] == "skipped"
    assert levels["near_duplicates"] in ("ok", "warn", "fail")
    assert "text" not in Path("audited/leaks.csv").read_text(encoding="utf-8")


def test_data_without_a_split_is_audited(folder: Path, unseen: Run) -> None:
    answer = unseen("audit", "posts.csv", *COLUMNS, "--check", "exact_duplicates", "--fail-on", "warn", "--json")
    assert [finding["check"] for finding in json.loads(answer.out)["findings"]] == ["exact_duplicates"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--texts"], "--texts has no effect without --out"),
        (["--by", "source"], "--by has no effect with a split file"),
        (["--check", "near_duplicate"], "did you mean 'near_duplicates'"),
        (["--fail-on", "bad"], "no level to fail on is called 'bad'"),
        (["--near", "0.2"], "from 0.5 to 1"),
        (["--semantic", "0.9"], "--semantic has no effect without vectors"),
        (["--check", "author"], "a check that was asked for cannot be made"),
        (["--author", "writer"], "writer"),
        (["--vectors", "v.npy", "--encoder", "tfidf"], "--encoder has no effect with --vectors"),
    ],
)
def test_what_cannot_be_meant_is_refused(split: str, unseen: Run, options: list[str], said: str) -> None:
    answer = unseen("audit", "posts.csv", split, *COLUMNS, *options)
    assert answer.code == 2
    assert said in answer.err
    assert not os.path.exists("audited")
