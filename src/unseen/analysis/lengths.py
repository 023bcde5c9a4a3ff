"""How long the texts of each side are."""

from __future__ import annotations

from unseen.analysis.sides import mean_of, sides_of
from unseen.analysis.words import Words, words_for
from unseen.types import Dataset, Measurement, Split


def lengths(data: Dataset, split: Split, words: Words | None = None) -> list[Measurement]:
    """Mean words of a text, on the training side and in the test part."""
    sides, counted = sides_of(data, split), words_for(data, words).lengths
    return [
        mean_of("length.words", counted[rows], sides.tags(part))
        for part, rows in (("train", sides.train), ("test", sides.test))
    ]
