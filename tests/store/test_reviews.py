"""Answers of reviewers: on the disk at once, never changed, and read back whatever ended the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, TableError, UnseenWarning
from unseen.store.reviews import ANSWERS, Review, append_review, read_reviews, undo_review

RIGHT = Review("a", "ann", "right", None, 2.5, "2026-11-17T10:00:00+00:00")
WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
KILLED = """
import sys
from unseen.store.reviews import Review, append_review
for number in range(10_000):
    append_review(sys.argv[1], Review(str(number), "ann", "right"))
"""


@given(st.lists(st.tuples(WORDS, WORDS, st.sampled_from(ANSWERS), WORDS), max_size=5))
def test_they_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, ...]]) -> None:
    path = tmp_path_factory.mktemp("reviews") / "reviews.jsonl"
    given = [Review(name, who, answer, label if answer == "other" else None) for name, who, answer, label in said]
    for review in given:
        append_review(path, review)
    last = {(review.id, review.reviewer): review for review in given}
    assert sorted(map(repr, read_reviews(path))) == sorted(map(repr, last.values()))


def test_the_last_answer_that_was_not_taken_back_counts(tmp_path: Path) -> None:
    path, other = tmp_path / "reviews.jsonl", Review("a", "ann", "other", "spam")
    for review in (RIGHT, Review("b", "ann", "unclear"), other, Review("a", "bob", "invalid")):
        append_review(path, review)
    assert [review.answer for review in read_reviews(path)] == ["unclear", "other", "invalid"]
    before = path.read_bytes()
    undo_review(path, "a", "ann")
    assert path.read_bytes().startswith(before)
    assert [review.answer for review in read_reviews(path)] == ["right", "unclear", "invalid"]
    undo_review(path, "a", "ann")
    undo_review(path, "a", "ann")
    assert [review.id for review in read_reviews(path)] == ["b", "a"]


def test_a_line_that_was_cut_off_costs_no_other(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    append_review(path, RIGHT)
    whole = path.read_bytes()
    for end in range(len(whole), 2 * len(whole) - 1):
        path.write_bytes((whole + whole.replace(b'"a"', b'"c"'))[:end])
        if end > len(whole):
            with pytest.warns(UnseenWarning, match="cut off"):
                assert read_reviews(path) == [RIGHT]
        append_review(path, Review("b", "ann", "right"))
        assert [review.id for review in read_reviews(path)] == ["a", "b"]


def test_a_whole_last_line_needs_no_line_feed(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    append_review(path, RIGHT)
    path.write_bytes(path.read_bytes().rstrip())
    assert read_reviews(path) == [RIGHT]
    append_review(path, Review("b", "ann", "right"))
    assert len(read_reviews(path)) == 2


def test_a_killed_program_leaves_what_it_had_said(tmp_path: Path) -> None:
    path = tmp_path / "reviews.jsonl"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)])
    while not path.exists() or path.stat().st_size < 500:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    ids = [review.id for review in read_reviews(path)]
    assert ids == [str(number) for number in range(len(ids))]
    assert len(ids) > 3


@pytest.mark.parametrize(
    "line",
    ['{"id": "a"', "[]", '{"id": "a", "reviewer": "b", "answer": "perhaps"}', '{"id": 1, "reviewer": "b"}', "\xff",
     '{"id": "a", "reviewer": "b", "answer": "other"}',
     '{"id": "a", "reviewer": "b", "answer": "right", "seconds": -1}'],
)  # fmt: skip
def test_a_line_that_is_no_review_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "reviews.jsonl"
    path.write_bytes(line.encode("latin-1") + b"\n")
    append_review(path, RIGHT)
    with pytest.raises(TableError, match="line 1"):
        read_reviews(path)


def test_no_file_holds_no_reviews_and_a_folder_is_none(tmp_path: Path) -> None:
    assert read_reviews(tmp_path / "reviews.jsonl") == []
    with pytest.raises(InputError, match="does not hold reviews"):
        read_reviews(tmp_path)
