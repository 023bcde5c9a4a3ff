"""How many rare words the texts of each side hold."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np

from unseen.analysis.sides import mean_of, sides_of
from unseen.analysis.words import Words, words_for, words_of
from unseen.errors import InputError
from unseen.types import Dataset, Measurement, Split

RARE = 3.0
"""Zipf value of a word that occurs once per million words: log10 of occurrences per thousand million."""

English = str | Path | Iterable[str] | None
"""A file with a word per line, or words; None for the list described in `english_words`."""


def rare_words(data: Dataset, split: Split, words: Words | None = None, english: English = None) -> list[Measurement]:
    """Mean number of rare words in a text, on the training side and in the test part.

    A rare word is in a list of English words and occurs at most once per million words by wordfreq.
    The tag `list` says which list: numbers by different lists cannot be compared.
    """
    sides, words = sides_of(data, split), words_for(data, words)
    name, listed = english_words(english)
    per_text = words.counts @ rare(words, listed)
    return [
        mean_of("rare_words", per_text[rows], sides.tags(part) | {"list": name})
        for part, rows in (("train", sides.train), ("test", sides.test))
    ]


def rare(words: Words, listed: frozenset[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """1 for each word of the vocabulary that is listed and rare, else 0."""
    return np.array([word in listed and _zipf(word) <= RARE for word in words.vocabulary], np.int64)


@cache
def _zipf(word: str) -> float:
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en", wordlist="large"))


def english_words(source: English = None) -> tuple[str, frozenset[str]]:
    """A name for the list and its words in lower case.

    Without a source: every purely alphabetical entry of wordfreq's large English list, which also has names, slang and
    common misspellings.
    """
    if source is None:
        return "wordfreq-large", _wordfreq_words()
    if not isinstance(source, str | Path):
        return "own", frozenset(word for entry in source for word in words_of(entry))
    try:
        lines = Path(source).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(
            f"cannot read words from {source}: {cause}", expected="a UTF-8 file, a word per line"
        ) from cause
    listed = frozenset(word for line in lines for word in words_of(line))
    if not listed:
        raise InputError(f"{source} holds no words", expected="a word per line")
    return Path(source).name, listed


@cache
def _wordfreq_words() -> frozenset[str]:
    from wordfreq import get_frequency_dict

    return frozenset(word for word in get_frequency_dict("en", "large") if word.isalpha())
