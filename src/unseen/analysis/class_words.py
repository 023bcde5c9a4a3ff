"""Whether the words that are typical of a class are the same in test and training."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.analysis.sides import Rows, sides_of
from unseen.analysis.words import Words, words_for
from unseen.errors import UnknownNameError
from unseen.types import Dataset, Measurement, Split

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


def typical_words(words: Words, rows: Rows, is_class: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Positions of the words of `rows` that lean to the class, the most typical first.

    PMI(word, class) - PMI(word, rest) is the logarithm of how much likelier the word is in a text of the
    class. The rate of SMOOTHING texts on the side is added to both rates, so a word that was seen once does
    not beat one that was seen often. Equal scores: first the word in more texts, then by alphabet.
    """
    inside, outside = rows[is_class[rows]], rows[~is_class[rows]]
    if not len(inside) or not len(outside):
        return np.empty(0, np.intp)
    own, other = (_texts_with(words, each) for each in (inside, outside))
    least = SMOOTHING / len(rows)
    scores = np.log(own / len(inside) + least) - np.log(other / len(outside) + least)
    leaning = np.flatnonzero((own > 0) & (scores > 0))
    order = np.lexsort((leaning, -own[leaning], -scores[leaning]))
    return leaning[order]


def _texts_with(words: Words, rows: Rows) -> npt.NDArray[np.int64]:
    return np.bincount(words.counts[rows].indices, minlength=len(words.vocabulary))
