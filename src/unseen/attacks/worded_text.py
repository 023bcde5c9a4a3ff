"""A text as words and what stands between them, so that one word can be changed and the rest stays as it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
SHORTEST = 4
"""Letters of a word that is still read with a letter wrong inside it."""


@dataclass(frozen=True)
class WordedText:
    """`gaps[0] words[0] gaps[1] words[1] …`: one gap more than words."""

    words: tuple[str, ...]
    gaps: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> WordedText:
        """The words of a text."""
        spans = [match.span() for match in WORD.finditer(text)]
        ends, starts = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
        gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
        return cls(tuple(text[start:end] for start, end in spans), gaps)

    @property
    def text(self) -> str:
        """The text."""
        return "".join(gap + word for gap, word in zip(self.gaps, (*self.words, ""), strict=True))

    def with_word(self, place: int, word: str) -> WordedText:
        """The text with another word in a place."""
        return replace(self, words=(*self.words[:place], word, *self.words[place + 1 :]))

    def without(self, place: int) -> str:
        """The text without a word and the blank after it, or before the last one."""
        before, after = self.gaps[place], self.gaps[place + 1]
        gap = before + after[1:] if after[:1].isspace() else (before[:-1] if before[-1:].isspace() else before) + after
        words = (*self.words[:place], *self.words[place + 1 :])
        return WordedText(words, (*self.gaps[:place], gap, *self.gaps[place + 2 :])).text

    def window(self, place: int, size: int) -> str:
        """So many words around a place."""
        first = max(0, min(place - size // 2, len(self.words) - size))
        last = min(len(self.words), first + size)
        return WordedText(self.words[first:last], ("", *self.gaps[first + 1 : last], "")).text


def like(original: str, word: str) -> str:
    """A word in the case of the one whose place it takes."""
    if len(original) > 1 and original.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if original[:1].isupper() else word


def swaps(original: str, changed: str) -> list[tuple[str, str]]:
    """What was changed, word by word: what stood there, and what stands there now; "" where a side has nothing.

    Words that were joined or torn apart are one swap.
    """
    return [(old, new) for _, old, new in placed_swaps(original, changed)]


def placed_swaps(original: str, changed: str) -> list[tuple[int, str, str]]:
    """The same with the place of the original at which each swap begins."""
    before, after = WordedText.of(original).words, WordedText.of(changed).words
    if len(before) == len(after):
        return [(at, old, new) for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [
        (a, " ".join(before[a:b]), " ".join(after[c:d]))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]


def edit_rate(original: str, changed: str) -> float:
    """Changed words as a share of all words."""
    changes: Sequence[tuple[str, str]] = swaps(original, changed)
    touched = sum(max(len(old.split()), len(new.split())) for old, new in changes)
    return touched / max(1, len(WordedText.of(original).words))
