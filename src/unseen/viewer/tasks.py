"""What a person is asked, one text after the other: whether labels are right, or what stands in a column of a sheet.

A task knows its texts, its answers and where they are kept. Every answer is on disk before the next text is shown.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unseen.errors import InputError
from unseen.store import atomic
from unseen.store.files import csv_rows, door, harmless, unharmed
from unseen.store.journal import now
from unseen.store.reviews import REVIEWS, Review, append_review, read_reviews, undo_review
from unseen.viewer.opened import OpenRun

KEYS = "123456789"


class Answer(NamedTuple):
    """One of the answers that a person may give."""

    value: str
    caption: str
    key: str = ""


class Task(ABC):
    """Texts to be judged by one person."""

    title: str
    kept: str
    """Where answers are kept, in words."""
    answers: Sequence[Answer]

    @abstractmethod
    def items(self) -> Sequence[Mapping[str, str]]:
        """All texts in their order: `id`, `text`, `question`, and `hidden`, an answer that is not offered for it."""

    @abstractmethod
    def given(self) -> Mapping[str, str]:
        """The answers that this person has given, by id, in the order in which they were given."""

    @abstractmethod
    def keep(self, id: str, value: str, seconds: float) -> None:
        """Keep an answer."""

    @abstractmethod
    def take_back(self, id: str) -> None:
        """Take an answer back."""

    def state(self) -> dict[str, Any]:
        """The next text, and how far the task is."""
        given, items = self.given(), self.items()
        left = next((item for item in items if item["id"] not in given), None)
        return {"item": left, "done": sum(item["id"] in given for item in items), "size": len(items)}

    def answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Keep an answer that somebody sent; the state after it."""
        item = next((item for item in self.items() if item["id"] == content.get("id")), None)
        values = {answer.value for answer in self.answers} - {item.get("hidden", "") if item else ""}
        if item is None or not isinstance(content.get("answer"), str) or content["answer"] not in values:
            raise InputError("this is no answer to a text of this task")
        seconds = content.get("seconds")
        self.keep(item["id"], content["answer"], float(seconds) if isinstance(seconds, int | float) else 0.0)
        return self.state()

    def undo(self) -> dict[str, Any]:
        """Take the last answer back; the state after it."""
        known = {item["id"] for item in self.items()}
        last = next((key for key in reversed(list(self.given())) if key in known), None)
        if last is not None:
            self.take_back(last)
        return self.state()


class LabelReview(Task):
    """Is the label right? Texts of a stress run, drawn by a design, blind to what the model says of them."""

    kept = "Answers are kept one by one in reviews.jsonl of the run; unseen runs report tells what came of them."

    def __init__(self, run: OpenRun, reviewer: str, size: int, seed: int) -> None:
        from unseen.reports.review import review_items

        if run.texts is None:
            raise InputError(
                "a review needs the texts, and this run did not keep them",
                fix="unseen view RUN --review --texts, where the data of the run lies",
            )
        self.title, self.reviewer, self.path = run.page.title, reviewer, run.folder / REVIEWS
        labels = run.record.about["data"]["label_names"]
        others = [
            Answer(f"other {label}", f"it is {label}", KEYS[place : place + 1]) for place, label in enumerate(labels)
        ]
        self.answers = [
            Answer("right", "the label is right", "y"), *others,
            Answer("unclear", "cannot be told", "u"), Answer("invalid", "not a valid item", "x"),
        ]  # fmt: skip
        self._items = [
            {
                "id": item.id, "text": run.text(run.places[item.id]) or "", "hidden": f"other {item.label}",
                "question": f"It is labelled “{item.label}”. Is that right?",
            }
            for item in review_items(run.record, size, seed)
        ]  # fmt: skip

    def items(self) -> Sequence[Mapping[str, str]]:
        """Texts of the draw."""
        return self._items

    def given(self) -> Mapping[str, str]:
        """What this reviewer has judged already."""
        reviews = read_reviews(self.path) if self.path.exists() else []
        return {one.id: one.answer for one in reviews if one.reviewer == self.reviewer}

    def keep(self, id: str, value: str, seconds: float) -> None:
        """Add a line to the file."""
        answer, _, label = value.partition(" ")
        append_review(self.path, Review(id, self.reviewer, answer, label or None, seconds, now()))

    def take_back(self, id: str) -> None:
        """Add a line that takes it back."""
        undo_review(self.path, id, self.reviewer)


class Sheet(Task):
    """A CSV file with `id`, `text` and a column to be filled in: labels of new texts, cases of a suite, valid items."""

    def __init__(self, path: Path, column: str, values: Sequence[str]) -> None:
        self.path, self.column, self.title = path, column, path.name
        self.kept = f"Answers are kept one by one in the column {column} of {path.name}."
        self.answers = [Answer(value, value, KEYS[place : place + 1]) for place, value in enumerate(values)]
        self._order: list[str] = []
        names, _ = self._read()
        lacking = [name for name in ("id", "text") if name not in names]
        if lacking:
            raise InputError(f"{path} is no sheet to fill in", expected="columns id and text", got=", ".join(names))

    def _read(self) -> tuple[list[str], list[dict[str, str]]]:
        with door(self.path, "a sheet to fill in"), self.path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [{name: row[name] or "" for name in reader.fieldnames or ()} for row in reader]
            return list(reader.fieldnames or ()), rows

    def items(self) -> Sequence[Mapping[str, str]]:
        """The rows of the file."""
        question = f"Which {self.column}?"
        return [{"id": row["id"], "text": unharmed(row["text"]), "question": question} for row in self._read()[1]]

    def given(self) -> Mapping[str, str]:
        """What is filled in: what was there before, then what this person said, in this order."""
        filled = {row["id"]: unharmed(row[self.column]) for row in self._read()[1] if row.get(self.column)}
        late = {key: filled[key] for key in self._order if key in filled}
        return {key: value for key, value in filled.items() if key not in late} | late

    def keep(self, id: str, value: str, seconds: float) -> None:
        """Write the file with the answer in it."""
        names, rows = self._read()
        names += [] if self.column in names else [self.column]
        self._order = [key for key in self._order if key != id] + ([id] if value else [])
        with atomic(self.path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
            write_row = csv_rows(file)
            write_row(names)
            for row in rows:
                filled = row | ({self.column: harmless(value)} if row["id"] == id else {})
                write_row([filled.get(name, "") for name in names])

    def take_back(self, id: str) -> None:
        """Empty the cell."""
        self.keep(id, "", 0.0)


def task_of(run: OpenRun, reviewer: str, size: int, seed: int) -> Task:
    """What there is to judge in a run: labels of a stress run, texts to label of a forecast."""
    from unseen.reports.forecast_page import TO_LABEL

    if run.record.kind == "forecast":
        sheet = run.folder / TO_LABEL
        if not sheet.is_file():
            raise InputError(f"{run.folder} has no texts to label", fix="unseen forecast … --draw 100 -o FOLDER")
        return Sheet(sheet, "label", run.record.about["data"]["label_names"])
    return LabelReview(run, reviewer, size, seed)
