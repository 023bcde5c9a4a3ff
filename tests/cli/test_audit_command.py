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
    made = unseen("split", "make", "posts.csv", *COLUMNS, "--with", "random", "--test", "0.2", "-o", "random.csv")
    assert made.code == 0, made.err
    return "random.csv"


def test_an_audit_fails_on_authors_and_writes_a_report(split: str, unseen: Run) -> None:
    answer = unseen(
        "audit", "data", "posts.csv", "--split", split, *COLUMNS, "--author", "user", "-o", "audited", "--texts"
    )
    assert answer.code == 1, answer.err
    assert "fail" in answer.out
    assert "authors are on both sides" in answer.out
    assert answer.out.rstrip().endswith("report: audited/report.html")
    with open("audited/leaks.csv", encoding="utf-8", newline="") as file:
        leaks = [row for row in csv.DictReader(file) if row["kind"] == "author"]
    assert leaks
    assert all(row["text"] and row["partner_text"] and row["partner_id"] for row in leaks if row["side"] == "test")
    assert all(row["text"] and not row["partner_id"] for row in leaks if row["side"] == "train")
    assert {row["side"] for row in leaks} == {"test", "train"}
    page = Path("audited/report.html").read_text(encoding="utf-8")
    assert "not sound" in page
    assert "by authors who also wrote training texts" in page
    again = unseen("runs", "report", "audited", "--json")
    assert json.loads(again.out)["level"] == "fail"


def test_json_has_every_check_and_texts_stay_home(split: str, unseen: Run) -> None:
    answer = unseen(
        "audit", "data", "posts.csv", "--split", split, *COLUMNS, "--gate", "none", "--json", "-o", "audited"
    )
    assert answer.code == 0, answer.err
    said = json.loads(answer.out)
    levels = {finding["check"]: finding["level"] for finding in said["findings"]}
    assert levels["author"] == "skipped"
    assert levels["near_duplicates"] in ("ok", "warn", "fail")
    assert "text" not in Path("audited/leaks.csv").read_text(encoding="utf-8")


def test_rows_without_ids_are_told_by_their_line(folder: Path, unseen: Run) -> None:
    Path("short.csv").write_text('text,label\n"two\nlines",x\nsame,y\nother,x\nsame,y\n', encoding="utf-8")
    Path("parts.txt").write_text("test: [2, 3]\ntrain: [0, 1]\n", encoding="utf-8")
    answer = unseen(
        "audit", "data", "short.csv", "--split", "parts.txt", "--check", "exact_duplicates", "-o", "audited"
    )
    assert "-2 (line 6)\n" in answer.out, answer.out + answer.err
    assert "-2 (line 6)</code>" in Path("audited/report.html").read_text(encoding="utf-8")
    with open("audited/leaks.csv", encoding="utf-8", newline="") as file:
        assert [(row["row"], row["partner_row"]) for row in csv.DictReader(file)][:1] == [("line 6", "line 4")]


def test_data_without_a_split_is_audited(folder: Path, unseen: Run) -> None:
    gates = ("--gate", "findings.fail<=0", "--gate", "findings.warn<=0")
    answer = unseen("audit", "data", "posts.csv", *COLUMNS, "--check", "exact_duplicates", *gates, "--json")
    assert [finding["check"] for finding in json.loads(answer.out)["findings"]] == ["exact_duplicates"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--texts"], "--texts has no effect without --out"),
        (["--parts", "source"], "--parts has no effect with a split file"),
        (["--check", "near_duplicate"], "did you mean 'near_duplicates'"),
        (["--gate", "findings.bad<=0"], "counts findings of an unknown level"),
        (["--gate", "bad"], "'bad' is not a gate"),
        (["--near", "0.2"], "from 0.5 to 1"),
        (["--semantic", "0.9"], "--semantic has no effect without vectors"),
        (["--check", "author"], "a check that was asked for cannot be made"),
        (["--author", "writer"], "writer"),
        (["--vectors", "v.npy", "--encoder", "tfidf"], "--encoder has no effect with --vectors"),
    ],
)
def test_what_cannot_be_meant_is_refused(split: str, unseen: Run, options: list[str], said: str) -> None:
    answer = unseen("audit", "data", "posts.csv", "--split", split, *COLUMNS, *options)
    assert answer.code == 2
    assert said in answer.err
    assert not os.path.exists("audited")
