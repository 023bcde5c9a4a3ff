"""Blind ratings of changed texts as a task in the browser: one question at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.attacks.rating_sheet import ASKED, RATED, Rating, append_rating, read_ratings, read_sheet, undo_rating
from unseen.store.journal import now, pseudonym
from unseen.viewer.tasks import KEYS, Answer, Questions


class RatingTask(Questions):
    """Every question about every text of a sheet, for one rater."""

    title = "Changed texts"
    unit = "questions"
    kept = f"Answers are kept one by one in {RATED}, your name as a hash."
    blind = "Who or what changed a text is not shown."

    def __init__(self, folder: str | Path, rater: str, simulated: bool = False) -> None:
        self.path, self.rater, self.simulated = Path(folder) / RATED, pseudonym(rater), simulated
        self._items = [
            {
                "id": f"{row['id']}/{name}", "original": row["original"], "text": row["changed"],
                "question": question.format(label=row["label"]),
                "answers": [Answer(value, value, KEYS[at]) for at, value in enumerate(values)],
            }
            for row in read_sheet(folder)
            for name, (question, values) in ASKED.items()
        ]  # fmt: skip

    def items(self) -> Sequence[Mapping[str, Any]]:
        """Each question about each text."""
        return self._items

    def given(self) -> Mapping[str, str]:
        """What this rater has answered already."""
        own = [one for one in read_ratings(self.path) if one.rater == self.rater and one.simulated == self.simulated]
        return {f"{one.item}/{one.question}": one.answer for one in own}

    def keep(self, id: str, value: str, seconds: float) -> None:
        """Add a line to the file."""
        item, _, question = id.partition("/")
        append_rating(self.path, Rating(item, question, value, self.rater, seconds, self.simulated, now()))

    def take_back(self, id: str) -> None:
        """Add a line that takes it back."""
        item, _, question = id.partition("/")
        undo_rating(self.path, item, question, self.rater)
