"""The search of many texts at once, every question to the model counted.

The search of one text is a generator: it yields what it wants to know and is sent the answer. So it reads like a loop
over one text, and the engine puts the questions of all texts that are still searched into one call of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from unseen.attacks.worded_text import WordedText
from unseen.progress import track
from unseen.types.arrays import Floats

Status = Literal["skipped", "failed", "flipped"]


class AskModel(NamedTuple):
    """What does the model say about these texts? [texts, labels]; fewer rows when the queries are used up."""

    texts: list[str]


class FindWords(NamedTuple):
    """Which words could stand in these places? A list for each."""

    text: WordedText
    places: list[int]


class CompareTexts(NamedTuple):
    """How similar are these texts to another one? A number each."""

    reference: str
    texts: list[str]


Search = Generator["AskModel | FindWords | CompareTexts", Any, "str | None"]
"""The search of one text; it returns a text that the model gives another label, or None."""


class Informants(NamedTuple):
    """Who answers, for many texts at once."""

    ask: Callable[[Sequence[str]], Floats]
    find: Callable[[Sequence[tuple[WordedText, int]]], Sequence[Sequence[str]]] | None = None
    compare: Callable[[Sequence[tuple[str, str]]], Floats] | None = None


@dataclass(frozen=True)
class Attempt:
    """What came of attacking one text."""

    status: Status
    """skipped: the model errs anyway; failed: no change was found; flipped: the model gives another label."""
    text: str
    """The changed text, or the original."""
    before: tuple[float, ...]
    after: tuple[float, ...]
    queries: int
    """Different texts that the model was asked about for this one."""
    repeated: int
    """Questions that had been asked before, which cost nothing."""


def attack_texts(
    texts: Sequence[str],
    labels: Sequence[int],
    search: Callable[[str, int, Floats], Search],
    answers: Informants,
    budget: int | None = None,
    work: str = "attack",
) -> list[Attempt]:
    """Attack each text, whose right label is given; `budget` is the number of queries that one text may cost."""
    first = answers.ask(list(texts))
    running = [
        _Running(search(text, label, whole), text, whole, budget, label)
        for text, label, whole in zip(texts, labels, first, strict=True)
    ]
    for _ in track(_ended(running, answers), work, len(running)):
        pass
    return [one.attempt() for one in running]


class _Running:
    """The search of one text under way."""

    def __init__(self, search: Search, text: str, whole: Floats, budget: int | None, label: int) -> None:
        self.search, self.text, self.budget = search, text, budget
        self.known: dict[str, Floats] = {text: whole}
        self.repeated = 0
        self.skipped = int(whole.argmax()) != label
        self.wants: AskModel | FindWords | CompareTexts | None = None
        self.result: str | None = None
        if not self.skipped:
            self.send(None)

    def send(self, answer: Any) -> None:
        """Go on with an answer, to the next question or to the end."""
        try:
            self.wants = self.search.send(answer)
        except StopIteration as end:
            self.wants, self.result = None, end.value

    def affordable(self, texts: Sequence[str]) -> list[str]:
        """The texts that may be asked about: all, or as many as the budget still allows."""
        allowed: list[str] = []
        new: set[str] = set()
        for text in texts:
            if text not in self.known:
                new.add(text)
            if self.budget is not None and len(self.known) + len(new) > self.budget:
                break
            allowed.append(text)
        return allowed

    def attempt(self) -> Attempt:
        """What came of it."""
        status: Status = "skipped" if self.skipped else "failed" if self.result is None else "flipped"
        text = self.text if self.result is None else self.result
        before, after = (tuple(self.known[one].tolist()) for one in (self.text, text))
        return Attempt(status, text, before, after, len(self.known), self.repeated)


def _ended(running: Sequence[_Running], answers: Informants) -> Iterator[_Running]:
    """Each search as it ends; in every round one call of the model, of the source and of the comparison for all."""
    live = list(running)
    while live:
        yield from (one for one in live if one.wants is None)
        live = [one for one in live if one.wants is not None]
        _ask([(one, one.wants) for one in live if isinstance(one.wants, AskModel)], answers)
        _find([(one, one.wants) for one in live if isinstance(one.wants, FindWords)], answers)
        _compare([(one, one.wants) for one in live if isinstance(one.wants, CompareTexts)], answers)


def _ask(asking: Sequence[tuple[_Running, AskModel]], answers: Informants) -> None:
    questions = [(one, one.affordable(question.texts)) for one, question in asking]
    new = list(dict.fromkeys(text for one, texts in questions for text in texts if text not in one.known))
    answered = dict(zip(new, answers.ask(new), strict=True)) if new else {}
    for one, texts in questions:
        fresh = {text: answered[text] for text in texts if text not in one.known}
        one.repeated += len(texts) - len(fresh)
        one.known |= fresh
        labels = len(one.known[one.text])
        one.send(np.array([one.known[text] for text in texts]).reshape(len(texts), labels))


def _find(finding: Sequence[tuple[_Running, FindWords]], answers: Informants) -> None:
    if not finding:
        return
    assert answers.find is not None
    candidates = iter(answers.find([(question.text, place) for _, question in finding for place in question.places]))
    for one, question in finding:
        one.send([list(next(candidates)) for _ in question.places])


def _compare(comparing: Sequence[tuple[_Running, CompareTexts]], answers: Informants) -> None:
    if not comparing:
        return
    assert answers.compare is not None
    similar = answers.compare([(question.reference, text) for _, question in comparing for text in question.texts])
    ends = np.cumsum([len(question.texts) for _, question in comparing])
    for (one, _), values in zip(comparing, np.split(similar, ends[:-1]), strict=True):
        one.send(values)
