"""What people say about texts: an append-only file, `reviews.jsonl` in the folder of a run, one line an answer.

Nothing in it is ever changed or removed: an answer that is taken back is one more line. Each line is on the disk before
the next text is shown, so whatever ends the program loses nothing but a line that was being written.
"""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.errors import InputError, TableError, UnseenWarning
from unseen.store.files import door

REVIEWS = "reviews.jsonl"
ANSWERS = ("right", "other", "unclear", "invalid")
"""The label is right; another label is; it cannot be told; this is not a valid item."""
CUT = "cut"
"""Key of a line that says that the one before it was not finished."""


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
    _append(Path(path), {name: value for name, value in asdict(review).items() if value not in (None, "")})


def undo_review(path: str | Path, id: str, reviewer: str) -> None:
    """Take back the last answer of a reviewer about a text; the one before it counts again."""
    _append(Path(path), {"undo": id, "reviewer": reviewer, "at": now()})


def now() -> str:
    """The time as reviews write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_reviews(path: str | Path) -> list[Review]:
    """The last answer of every reviewer about every text that was not taken back, in order; none without a file."""
    path, answers, problems = Path(path), dict[tuple[str, str], list[tuple[int, Review]]](), []
    if not path.exists():
        return []
    with door(path, "reviews"):
        lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            _read_line(line, number, answers)
        except (InputError, ValueError, RecursionError) as cause:
            if number == len(lines):  # every whole line ends with a line feed
                warnings.warn(f"the last line of {path} was cut off and is left out", UnseenWarning, stacklevel=2)
            elif _content(lines[number]) != {CUT: True}:
                problems.append(f"line {number}: {cause.message if isinstance(cause, InputError) else cause}")
    if problems:
        raise TableError(f"{path} has lines that are no reviews", problems=problems)
    last = sorted((given[-1] for given in answers.values() if given), key=lambda numbered: numbered[0])
    return [review for _, review in last]


def _read_line(line: bytes, number: int, answers: dict[tuple[str, str], list[tuple[int, Review]]]) -> None:
    if not line.strip():
        return
    content = json.loads(line.decode("utf-8"))
    if not isinstance(content, Mapping):
        raise ValueError("not an object of JSON")
    if content == {CUT: True}:
        return
    if "undo" in content:
        given = answers.get((str(content["undo"]), str(content.get("reviewer"))))
        if given:
            given.pop()
        return
    names: dict[str, Any] = {"id": "", "reviewer": "", "answer": ""} | dict(content)
    review = Review(**{field.name: names[field.name] for field in fields(Review) if field.name in names})
    answers.setdefault((review.id, review.reviewer), []).append((number, review))


def _content(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _append(path: Path, content: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        unfinished = file.read().rpartition(b"\n")[2]
        before = b"" if not unfinished else b"\n" if _content(unfinished) else b'\n{"cut": true}\n'
        file.write(before + json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        file.flush()
        os.fsync(file.fileno())
