"""Does a changed text still deserve its label? What programs can tell of it; people tell the rest (ratings.py).

A check says True, False, or None where it cannot tell. A flip is valid when no check says False: that is an upper
bound of what people would accept, and for some checks a loose one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.attacks.dictionaries import Words
from unseen.attacks.recipes import cosines, same_part
from unseen.attacks.worded_text import SHORTEST, WORD, edit_rate, swaps
from unseen.audits.items.rule import Items
from unseen.audits.items.scrape_noise import wrong_language
from unseen.evaluation.intervals import wilson
from unseen.types import Dataset, Origin, string_array
from unseen.types.arrays import encode_labels

SIMILAR = 0.8
"""Cosine of the whole texts by the encoder, at least. A reversed meaning can still reach it."""
MOST_EDITS = 0.2
"""Share of words that may be changed; one word always may."""
FEWEST = 5
"""Texts that a word must be in to be called a word of a label."""


@dataclass(frozen=True)
class ChangedText:
    """A text, what an attack made of it, and the label that must be kept."""

    original: str
    changed: str
    label: str
    characters: bool = False
    """Whether spelling was changed, not words."""

    @cached_property
    def swaps(self) -> list[tuple[str, str]]:
        """Old and new words."""
        return swaps(self.original, self.changed)


@dataclass(frozen=True)
class Knowledge:
    """What checks know; what is missing is not checked."""

    label_words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words that carry a label by themselves."""
    antonyms: Words | None = None
    tags: Words | None = None
    encoder: str | None = None
    language: str | None = "en"
    most_edits: float = MOST_EDITS
    """Share of words that may be changed."""

    @property
    def unchecked(self) -> list[str]:
        """Checks that cannot tell anything, because what they need was not given."""
        return [name for name, (_, needed) in CHECKS.items() if getattr(self, needed) is None]


def no_antonyms(changes: Sequence[ChangedText], opposite: Words) -> list[bool | None]:
    """No word became its opposite."""
    return [not any(new.lower() in opposite.get(old.lower(), ()) for old, new in change.swaps) for change in changes]


def label_words_kept(changes: Sequence[ChangedText], label_words: Mapping[str, frozenset[str]]) -> list[bool | None]:
    """No word that carries the label was replaced, and none was put in that carries another one.

    A misspelt word still carries it, so spelling is not judged here.
    """
    verdicts: list[bool | None] = []
    for change in changes:
        own = label_words.get(change.label, frozenset())
        others = frozenset[str]().union(*(words for label, words in label_words.items() if label != change.label))
        lost = any(old.lower() in own and new.lower() not in own for old, new in change.swaps)
        gained = any(new.lower() in others and old.lower() not in others for old, new in change.swaps)
        verdicts.append(None if change.characters else not (lost or gained))
    return verdicts


def part_of_speech_kept(changes: Sequence[ChangedText], tags: Words) -> list[bool | None]:
    """Each new word can be the part of speech of the old one; a noun may become a verb."""
    judged = [[same_part(tags, old, new) for old, new in change.swaps] for change in changes]
    return [None if change.characters else _all(one) for change, one in zip(changes, judged, strict=True)]


def grammar_kept(changes: Sequence[ChangedText], forms: Words) -> list[bool | None]:
    """Each new word can have the very form of the old one: plural for plural, past for past."""

    def same(old: str, new: str) -> bool | None:
        tags = [set(forms.get(word) or forms.get(word.lower()) or ()) for word in (old, new)]
        return bool(tags[0] & tags[1]) if all(tags) else None

    return [None if change.characters else _all([same(*swap) for swap in change.swaps]) for change in changes]


def similar(changes: Sequence[ChangedText], encoder: str) -> list[bool | None]:
    """The encoder finds the texts similar; misspelt words mislead it, so spelling is not judged here."""
    judged = [change for change in changes if not change.characters]
    values = iter(cosines(encoder, [(one.original, one.changed) for one in judged]).tolist() if judged else [])
    return [None if change.characters else bool(next(values) >= SIMILAR) for change in changes]


def few_edits(changes: Sequence[ChangedText], most: float) -> list[bool | None]:
    """At most this share of the words is changed; one always may be."""
    return [len(one.swaps) <= 1 or edit_rate(one.original, one.changed) <= most for one in changes]


def same_language(changes: Sequence[ChangedText], language: str) -> list[bool | None]:
    """The changed text is in the language of the data, where the original is."""
    before, after = (
        _foreign(texts, language)
        for texts in ([change.original for change in changes], [change.changed for change in changes])
    )
    return [None if was else not now for was, now in zip(before, after, strict=True)]


def _foreign(texts: Sequence[str], language: str) -> list[bool]:
    ids, labels = string_array([str(row) for row in range(len(texts))]), string_array(["any"] * len(texts))
    table = pa.table({"id": ids, "text": string_array(texts), "label": encode_labels(labels, ("any",))})
    data = Dataset("changed texts", table, ("any",), (), Origin("given"))
    return [bool(one) for one in wrong_language(Items(data, np.ones(len(texts), bool), language))]


def readable(changes: Sequence[ChangedText], language: str) -> list[bool | None]:
    """New words are words; misspelt ones differ by one letter inside a word of four or more, and are no other word."""
    return [
        all(not misread(*swap, language) if change.characters else is_word(swap[1], language) for swap in change.swaps)
        for change in changes
    ]


CHECKS: Mapping[str, tuple[Callable[[Sequence[ChangedText], Any], list[bool | None]], str]] = {
    "antonyms": (no_antonyms, "antonyms"),
    "label words": (label_words_kept, "label_words"),
    "part of speech": (part_of_speech_kept, "tags"),
    "grammar": (grammar_kept, "tags"),
    "similarity": (similar, "encoder"),
    "few edits": (few_edits, "most_edits"),
    "language": (same_language, "language"),
    "readable": (readable, "language"),
}
"""What is checked of every flip, by name, and the field of `Knowledge` that it needs."""


def judged(changes: Sequence[ChangedText], known: Knowledge) -> dict[str, list[bool | None]]:
    """What each check says of each change."""
    return {
        name: [None] * len(changes) if name in known.unchecked else check(changes, getattr(known, needed))
        for name, (check, needed) in CHECKS.items()
        if changes
    }


def misread(old: str, new: str, language: str = "en") -> bool:
    """Whether a reader would take a misspelt word for another word, or for none."""
    inside = len(old) >= SHORTEST and old[:1] == new[:1] and old[-1:] == new[-1:]
    return not (inside and one_edit(old, new)) or is_word(new, language)


def one_edit(old: str, new: str) -> bool:
    """Whether a letter was put in, left out or replaced, or two neighbours have changed places."""
    if abs(len(old) - len(new)) > 1 or old == new:
        return False
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest_old, rest_new = old[start:], new[start:]
    if len(old) != len(new):
        return rest_old[1:] == rest_new or rest_old == rest_new[1:]
    swapped = rest_old[:2] == rest_new[1::-1] and rest_old[2:] == rest_new[2:]
    return rest_old[1:] == rest_new[1:] or swapped


def learn_label_words(data: Dataset) -> dict[str, frozenset[str]]:
    """Words that carry a label by themselves: the label's own name, and words whose texts mostly have it.

    Mostly: the lower end of the interval of the label's share among texts with the word lies at least half way between
    its share among all texts and one.
    """
    names, labels = data.label_names, data.labels
    texts = [{match[0].lower() for match in WORD.finditer(text)} for text in data.texts.to_pylist()]
    counts = Counter(word for words in texts for word in words)
    within = [Counter[str]() for _ in names]
    for words, label in zip(texts, labels.tolist(), strict=True):
        within[label].update(words)
    shares = np.bincount(labels, minlength=len(names)) / max(1, len(labels))
    learnt = {}
    for code, name in enumerate(names):
        often = [(word, count) for word, count in within[code].items() if counts[word] >= FEWEST]
        carrying = {word for word, count in often if wilson(count, counts[word])[0] >= (1 + shares[code]) / 2}
        learnt[name] = frozenset(carrying | {name.lower()})
    return learnt


def is_word(word: str, language: str = "en") -> bool:
    """Whether wordfreq's list of a language has it."""
    from wordfreq import zipf_frequency

    return bool(zipf_frequency(word.lower(), language) > 0)


def _all(verdicts: Sequence[bool | None]) -> bool | None:
    """False where one is, None where one cannot be told, else True."""
    return False if False in verdicts else None if None in verdicts else True
