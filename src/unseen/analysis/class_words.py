"""Words that are typical of a class, or of any group of texts, and whether they are the same in test and training."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.analysis.sides import sides_of
from unseen.analysis.words import Words, words_for
from unseen.errors import InputError, UnknownNameError
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Mask, Rows

TOP = 1_500
SMOOTHING = 3
"""Texts. With less, the top words are mostly those seen once, and two random halves of a corpus hardly agree."""


def class_word_overlap(
    data: Dataset, split: Split, words: Words | None = None, neutral: str | None = None, top: int = TOP
) -> list[Measurement]:
    """Share of the words most typical of a class in training that are also most typical of it in test.

    A word scores PMI(word, class) - PMI(word, rest), counted in texts; the `top` words of each side are
    compared, or fewer when one side has fewer words that lean to the class (`n` says how many). One row per
    class, and their mean. `neutral` names a class that is left out.
    """
    if neutral is not None and neutral not in data.label_names:
        raise UnknownNameError.of("label", neutral, data.label_names)
    sides, content = sides_of(data, split), words_for(data, words).content
    rows = []
    for code, name in enumerate(data.label_names):
        if name != neutral:
            is_class = data.labels == code
            train, test = (typical_words(content, side, is_class) for side in (sides.train, sides.test))
            n = min(top, len(train), len(test))
            value = len(set(train[:n].tolist()) & set(test[:n].tolist())) / n if n else None
            rows.append(Measurement("class_word_overlap", value, n, slice=f"label={name}", tags=sides.tags()))
    known = [row.value for row in rows if row.value is not None]
    mean = float(np.mean(known)) if known else None
    return [Measurement("class_word_overlap", mean, sum(row.n for row in rows), tags=sides.tags()), *rows]


def typical_words(words: Words, rows: Rows, is_class: Mask) -> Rows:
    """Positions of the words of `rows` that lean to the class, the most typical first.

    PMI(word, class) - PMI(word, rest) is the logarithm of how much likelier the word is in a text of the
    class. The rate of SMOOTHING texts on the side is added to both rates, so a word that was seen once does
    not beat one that was seen often. Equal scores: first the word in more texts, then by alphabet.
    """
    inside, outside = rows[is_class[rows]], rows[~is_class[rows]]
    if not len(inside) or not len(outside):
        return np.empty(0, np.intp)
    own, other = (_texts_with(words, side) for side in (inside, outside))
    least = SMOOTHING / len(rows)
    scores = np.log(own / len(inside) + least) - np.log(other / len(outside) + least)
    leaning = np.flatnonzero((own > 0) & (scores > 0))
    order = np.lexsort((leaning, -own[leaning], -scores[leaning]))
    return leaning[order]


def _texts_with(words: Words, rows: Rows) -> npt.NDArray[np.int64]:
    return np.bincount(words.counts[rows].indices, minlength=len(words.vocabulary))


def top_words(texts: Iterable[str] | Words, groups: Sequence[Hashable] | Any, top: int = 10) -> dict[Any, list[str]]:
    """The `top` words of each group of texts, the most telling first; groups in the order they appear.

    This is class-based TF-IDF (Grootendorst 2022, section 3.3): a word's weight is its share of the group's words times
    log(1 + mean words per group / its occurrences in all groups). Stop words are left out; a group whose texts hold no
    words gets an empty list.

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
    best_words = {}
    for key, number in numbers.items():
        own = slice(counts.indptr[number], counts.indptr[number + 1])
        places = counts.indices[own]
        weights = counts.data[own] * rarity[places]  # a group's total is the same for all its words
        best = places[np.lexsort((places, -weights))[:top]]
        best_words[key] = words.vocabulary[best].tolist()
    return best_words


def class_topics(
    data: Dataset, split: Split, words: Words | None = None, top: int = 10
) -> dict[tuple[str, str], list[str]]:
    """The top words of each class on each side: (label, "train" or "test") -> words."""
    sides, words = sides_of(data, split), words_for(data, words)
    rows = np.concatenate([sides.train, sides.test])
    side = ["train"] * len(sides.train) + ["test"] * len(sides.test)
    groups = [(data.label_names[code], part) for code, part in zip(data.labels[rows], side, strict=True)]
    return top_words(Words(words.vocabulary, words.counts[rows]), groups, top)
