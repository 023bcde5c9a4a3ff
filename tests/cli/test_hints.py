"""Advice in the language of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unseen.cli.hints import as_typed


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("drop=['empty', 'unlabelled']", "--drop empty --drop unlabelled"),
        ("drop='empty' has no effect", "--drop empty has no effect"),
        ("e.g. encoding='cp1252', or", "e.g. --encoding cp1252, or"),
        ("labels={'0': 'no', '1': 'a b'}", "--labels '0=no,1=a b'"),
        ("labels=(…)", "--labels …"),
        ("merge=True", "--merge"),
        ("attributes=['user']", "--attribute user"),
        ("stratify=False", "--set stratify=false"),
        ("by=… (--by on the command line)", "--by"),
        ("columns={'a': …} (--column a=… on the command line): so", "--column a=…: so"),
        ("params={'pwws': {'wordnet': …}} (--set pwws.wordnet=…); or", "--set pwws.wordnet=…; or"),
        ("n_clusters=40, or", "--set n_clusters=40, or"),
        ("rename={'theirs': 'ours'} when", """--set 'rename={"theirs": "ours"}' when"""),
        ("a = b, sha256 f=x", "a = b, sha256 f=x"),
    ],
)
def test_settings_become_options(python: str, typed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["unseen", "split", "make", "posts.csv"])
    assert as_typed(python) == typed


def test_what_the_command_does_not_take_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["unseen", "model", "score", "posts.csv", "predictions.csv"])
    assert as_typed("positions=True and n_clusters=40") == "positions=True and n_clusters=40"


def test_eight_empty_rows_can_be_left_out_as_the_message_says(
    folder: Path, write_posts: Callable[..., Path], unseen: Callable[..., Any]
) -> None:
    write_posts(folder / "posts.csv", edit=lambda number, row: {"text": ""} if number < 8 else {})
    refused = unseen("split", "make", "posts.csv", "--with", "random")
    assert "8 rows have no text: lines 2, 3" in refused.err
    assert refused.err.endswith("leave these rows out: --drop empty\n")
    assert unseen("split", "make", "posts.csv", "--with", "random", "--drop", "empty", "-o", "hard.csv").code == 0


def test_doubtful_labels_are_one_note_with_the_option_that_mends_them(
    folder: Path, write_posts: Callable[..., Path], unseen: Callable[..., Any]
) -> None:
    write_posts(folder / "posts.csv", edit=lambda number, row: {"label": row["label"].upper()} if number < 4 else {})
    command = ["split", "make", "posts.csv", "--with", "random", "-o", "hard.csv"]
    noted = unseen(*command)
    assert noted.err.count("note: posts: labels that differ only in spelling") == 1
    assert "to merge them: --merge" in noted.err
    assert unseen(*command, "--merge").err == ""
