"""What people say about texts: an append-only file (journal.py), `reviews.jsonl` in the folder of a run.

One line is one answer; an answer that is taken back is one more line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import count
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.store.journal import append_entry, now, read_entries

REVIEWS = "reviews.jsonl"
ANSWERS = ("right", "other", "unclear", "invalid")
"""The label is right; another label is; it cannot be told; this is not a valid item."""


@dataclass(frozen=True)
class Review:
    """What one person said about one text."""

    id: str
    reviewer: str
    answer: str
    """One of `ANSWERS`."""
    label: str | None = None
    """The right label, where another one is."""
    seconds: float = 0.0
    """How long it took."""
    at: str = ""
    """When it was given: UTC, as ISO 8601 has it."""
    run: str = ""
    """The run in which it was given, where it was another one."""

    def __post_init__(self) -> None:
        texts = (self.id, self.reviewer, self.at, self.run, self.label or "")
        if not all(isinstance(text, str) for text in texts) or not self.id or not self.reviewer:
            raise InputError("a review says the id of a text and who reviewed it")
        if self.answer not in ANSWERS:
            raise InputError("a review is no answer", expected=", ".join(ANSWERS), got=repr(self.answer))
        if (self.answer == "other") != bool(self.label):
            raise InputError("a review names the right label where another one is right, and only there")
        if (
            isinstance(self.seconds, bool)
            or not isinstance(self.seconds, int | float)
            or not 0 <= self.seconds < math.inf
        ):
            raise InputError("a review takes some seconds", got=repr(self.seconds))


def append_review(path: str | Path, review: Review) -> None:
    """Add an answer; it is on the disk when this returns."""
    append_entry(path, {name: value for name, value in asdict(review).items() if value not in (None, "")})


def add_reviews(path: str | Path, reviews: Iterable[Review]) -> None:
    """Add answers, but for those of a reviewer who has answered about the same text there."""
    here = {(review.id, review.reviewer) for review in read_reviews(path)}
    for review in reviews:
        if (review.id, review.reviewer) not in here:
            append_review(path, review)


def undo_review(path: str | Path, id: str, reviewer: str) -> None:
    """Take back the last answer of a reviewer about a text; the one before it counts again."""
    append_entry(path, {"undo": id, "reviewer": reviewer, "at": now()})


def read_reviews(path: str | Path) -> list[Review]:
    """The last answer of every reviewer about every text that was not taken back, in order; none without a file."""
    answers: dict[tuple[str, str], list[tuple[int, Review]]] = {}
    numbers = count()
    if Path(path).exists():
        read_entries(path, "reviews", lambda entry: _take(entry, next(numbers), answers))
    last = sorted((given[-1] for given in answers.values() if given), key=lambda numbered: numbered[0])
    return [review for _, review in last]


def _take(entry: Mapping[str, Any], number: int, answers: dict[tuple[str, str], list[tuple[int, Review]]]) -> None:
    if "undo" in entry:
        given = answers.get((str(entry["undo"]), str(entry.get("reviewer"))))
        if given:
            given.pop()
        return
    names: dict[str, Any] = {"id": "", "reviewer": "", "answer": ""} | dict(entry)
    review = Review(**{field.name: names[field.name] for field in fields(Review) if field.name in names})
    answers.setdefault((review.id, review.reviewer), []).append((number, review))
