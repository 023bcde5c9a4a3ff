"""The words that tell groups of texts apart: class-based TF-IDF (Grootendorst 2022, section 3.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from unseen.analysis.sides import sides_of
from unseen.analysis.words import Words, words_for
from unseen.errors import InputError
from unseen.types import Dataset, Split


def top_words(texts: Iterable[str] | Words, groups: Sequence[Hashable] | Any, top: int = 10) -> dict[Any, list[str]]:
    """The `top` words of each group of texts, the most telling first; groups in the order they appear.

    A word's weight is its share of the group's words times log(1 + mean words per group / its occurrences
    in all groups). Stop words are left out; a group whose texts hold no words gets an empty list.

    >>> top_words(["red red apple", "green pear", "red plum"], ["a", "b", "a"], top=2)
    {'a': ['red', 'apple'], 'b': ['green', 'pear']}
    """
    from scipy.sparse import csr_matrix

    words = (texts if isinstance(texts, Words) else Words.of_texts(texts)).content
    keys = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(keys) != len(words):
        raise InputError("each text needs a group", expected=f"{len(words)} groups", got=str(len(keys)))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([numbers[key] for key in keys], np.intp)
    member = csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(numbers), len(codes)))
    counts = (member @ words.counts).tocsr()
    counts.sort_indices()
    everywhere = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(everywhere.sum() / max(1, len(numbers)) / np.maximum(everywhere, 1))
    found = {}
    for key, number in numbers.items():
        own = slice(counts.indptr[number], counts.indptr[number + 1])
        places = counts.indices[own]
        weights = counts.data[own] * rarity[places]  # a group's total is the same for all its words
        best = places[np.lexsort((places, -weights))[:top]]
        found[key] = words.vocabulary[best].tolist()
    return found


def class_topics(
    data: Dataset, split: Split, words: Words | None = None, top: int = 10
) -> dict[tuple[str, str], list[str]]:
    """The top words of each class on each side: (label, "train" or "test") -> words."""
    sides, words = sides_of(data, split), words_for(data, words)
    rows = np.concatenate([sides.train, sides.test])
    side = ["train"] * len(sides.train) + ["test"] * len(sides.test)
    groups = [(data.label_names[code], part) for code, part in zip(data.labels[rows], side, strict=True)]
    return top_words(Words(words.vocabulary, words.counts[rows]), groups, top)
