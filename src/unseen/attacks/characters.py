"""Greedy edits of characters over places chosen first (Charmer; Abad Rocamora et al. 2024)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import starmap
from typing import ClassVar

import numpy as np

from unseen.attacks.search import AskModel, Search
from unseen.attacks.validity import misread
from unseen.attacks.worded_text import SHORTEST, WORD, swaps
from unseen.errors import InputError
from unseen.types.arrays import Floats

TRIAL = " "
"""What is put in each place to see how much the place matters."""


@dataclass
class Characters:
    """One character is put in, left out or replaced, where it hurts most, up to `edits` times. Needs no word list.

    Each time `places` are chosen by what a blank there does, then every character of `alphabet` is tried in them. By
    default a text of n words gets at most a tenth of n edits, one at least, and stays readable: each edit lies inside
    a word of four or more letters and does not make another English word of it, and each word is edited once.
    `readable=False` lets edits stand anywhere, as published.
    """

    name: ClassVar[str] = "characters"
    changes: ClassVar[str] = "characters"
    places: int = 10
    edits: int | None = None
    alphabet: str = "abcdefghijklmnopqrstuvwxyz"
    readable: bool = True

    def __post_init__(self) -> None:
        if self.places < 1 or (self.edits is not None and self.edits < 1) or not self.alphabet:
            raise InputError("characters needs at least one place, one edit and one letter")

    def prepare(self) -> None:
        """Nothing has to be read."""

    def search(self, text: str, label: int, whole: Floats) -> Search:
        """Edit until the label flips, or an edit no longer makes it less probable."""
        current, reached = text, float(whole[label])
        for _ in range(self.edits or max(1, len(text.split()) // 10)):
            places = inside_words(text, current) if self.readable else range(2 * len(current) + 1)
            trials = edits_of(current, places, TRIAL)
            answers = yield AskModel(list(trials))
            if len(answers) < len(trials):
                return None  # the queries are used up
            worst = np.argsort(answers[:, label], kind="stable")[: self.places]
            tried = list(trials.values())
            edited = edits_of(current, [tried[at] for at in worst], "", *self.alphabet)
            if self.readable:
                edited = {one: place for one, place in edited.items() if not any(starmap(misread, swaps(current, one)))}
            answers = yield AskModel(list(edited))
            if (flipped := _flipped(edited, answers, label)) or len(answers) < len(edited):
                return flipped
            if not len(answers) or float(answers[:, label].min()) >= reached:
                return None
            best = int(answers[:, label].argmin())
            current, reached = list(edited)[best], float(answers[best, label])
        return None


def inside_words(original: str, current: str) -> list[int]:
    """Places inside words of four or more letters that are still as they were, neither first nor last letters."""
    unchanged = zip(WORD.finditer(original), WORD.finditer(current), strict=False)
    spans = [now.span() for was, now in unchanged if was[0] == now[0] and len(now[0]) >= SHORTEST]
    return [place for start, end in spans for place in range(2 * start + 2, 2 * end - 1)]


def _flipped(texts: Mapping[str, int], answers: Floats, label: int) -> str | None:
    """The text that is given another label and leaves this one least probable."""
    flips = np.flatnonzero(answers.argmax(axis=1) != label)
    return list(texts)[int(flips[answers[flips, label].argmin()])] if len(flips) else None


def edits_of(text: str, places: Iterable[int], *characters: str) -> dict[str, int]:
    """The texts with each of the characters in each place, and the place; the empty character leaves out what is there.

    Odd places are characters of the text, even ones lie between them: in a text of n characters there are 2 n + 1.
    """
    edits: dict[str, int] = {}
    for place in places:
        at, within = divmod(place, 2)
        for character in characters:
            edited = text[:at] + character + text[at + within :]
            if edited != text and edited.strip():
                edits.setdefault(edited, place)
    return edits
