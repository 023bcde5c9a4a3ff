"""What a person does in a browser. A task has a page, a state that the page shows, and actions that the page asks for.

Most tasks are questions about one text after the other: whether labels are right, or what stands in a column of a
sheet. Every answer is on disk before the next text is shown.
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unseen.errors import InputError
from unseen.store.files import door, harmless, unharmed, write_rows
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
    """What one person does, on a page of its own: a state, and actions that change it."""

    title: str
    page = "task.html"
    """The template of its page."""
    script = "task.js"

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """What is to be done next, and how far the task is."""

    @property
    @abstractmethod
    def actions(self) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        """What the page may ask for, by name: from what it sends to the state after it."""


class Questions(Task):
    """Texts to be judged by one person, each by one of a few answers."""

    kept: str
    """Where answers are kept, in words."""
    blind = "What a model says of a text, and why it was drawn, is not shown."
    unit = "texts"
    """What is counted."""
    answers: Sequence[Answer] = ()

    @abstractmethod
    def items(self) -> Sequence[Mapping[str, Any]]:
        """All texts in their order: `id`, `text`, `question`, and `hidden`, an answer that is not offered for it.

        An item may bring `answers` of its own, and an `original` that is shown above its text.
        """

    @abstractmethod
    def given(self) -> Mapping[str, str]:
        """The answers that this person has given, by id, in the order in which they were given."""

    @abstractmethod
    def keep(self, id: str, value: str, seconds: float) -> None:
        """Keep an answer."""

    @abstractmethod
    def take_back(self, id: str) -> None:
        """Take an answer back."""

    def offered(self, item: Mapping[str, Any]) -> list[Answer]:
        """The answers that may be given to an item."""
        return [answer for answer in item.get("answers", self.answers) if answer.value != item.get("hidden")]

    def state(self) -> dict[str, Any]:
        """The next text with its answers, and how far the task is."""
        given, items = self.given(), self.items()
        left = next((item for item in items if item["id"] not in given), None)
        answers = [] if left is None else [answer._asdict() for answer in self.offered(left)]
        shown = None if left is None else {name: value for name, value in left.items() if name != "answers"}
        return {
            "item": shown, "answers": answers, "done": sum(item["id"] in given for item in items), "size": len(items)
        }  # fmt: skip

    @property
    def actions(self) -> Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        """An answer, and taking the last one back."""
        return {"answer": self.answer, "undo": lambda _: self.undo()}

    def answer(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Keep an answer that somebody sent; the state after it."""
        item = next((item for item in self.items() if item["id"] == content.get("id")), None)
        values = [] if item is None else [answer.value for answer in self.offered(item)]
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


class LabelReview(Questions):
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

    def items(self) -> Sequence[Mapping[str, Any]]:
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


class Sheet(Questions):
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

    def items(self) -> Sequence[Mapping[str, Any]]:
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
        filled = (row | ({self.column: harmless(value)} if row["id"] == id else {}) for row in rows)
        write_rows(self.path, names, ([row.get(name, "") for name in names] for row in filled))

    def take_back(self, id: str) -> None:
        """Empty the cell."""
        self.keep(id, "", 0.0)


def task_of(run: OpenRun, reviewer: str, size: int, seed: int) -> Questions:
    """What there is to judge in a run: labels of a stress run, texts to label of a forecast."""
    from unseen.reports.forecast_page import TO_LABEL

    if run.record.kind == "forecast":
        sheet = run.folder / TO_LABEL
        if not sheet.is_file():
            raise InputError(f"{run.folder} has no texts to label", fix="unseen forecast … --draw 100 -o FOLDER")
        return Sheet(sheet, "label", run.record.about["data"]["label_names"])
    return LabelReview(run, reviewer, size, seed)
