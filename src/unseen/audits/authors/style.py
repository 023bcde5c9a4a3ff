"""How texts are written, as numbers: for telling whether two of them may have one author."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
GRAMS, FEATURES = (2, 4), 2**17
FREQUENT = 100
"""So many of the commonest words of the texts stand for function words, of whatever language."""
MARKS = ".,;:!?'\"-()…*/#@&"
AT_ONCE = 256
WORD = re.compile(r"\w+")


@dataclass(frozen=True, eq=False)
class Style:
    """The style of several texts: character n-grams, use of the commonest words, and habits of writing."""

    grams: Any
    """Sparse [texts, features], rows of length one."""
    words: Floats
    """[texts, words], rows of length one, or zero."""
    habits: Floats
    """[texts, habits]: length, length of words, capitals, digits, and every mark, per character."""

    @classmethod
    def of(cls, texts: Sequence[str]) -> Style:
        """The style of these texts; weights of n-grams and the commonest words come from them all together."""
        from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
        from sklearn.preprocessing import normalize

        counts = HashingVectorizer(
            analyzer="char", ngram_range=GRAMS, n_features=FEATURES, lowercase=False, alternate_sign=False, norm=None
        ).transform(texts)
        grams = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
        words = CountVectorizer(token_pattern=r"(?u)\b\w+\b", max_features=FREQUENT)
        try:
            used = normalize(words.fit_transform(texts).astype(np.float64)).toarray()
        except ValueError:  # no text has a word
            used = np.zeros((len(texts), 1))
        return cls(grams.tocsr(), used, np.array([_habits(text) for text in texts]).reshape(len(texts), -1))

    def nearest(self, rows: Rows, among: Rows) -> tuple[Rows, Floats]:
        """For each of `rows`, the row `among` others whose n-grams are most like, and how alike they are."""
        others = self.grams[among].T.tocsc()
        best, alike = np.empty(len(rows), np.intp), np.empty(len(rows))
        for start in range(0, len(rows), AT_ONCE):
            block = (self.grams[rows[start : start + AT_ONCE]] @ others).toarray()
            best[start : start + AT_ONCE] = among[block.argmax(axis=1)]
            alike[start : start + AT_ONCE] = block.max(axis=1)
        return best, alike

    def likeness(self, one: Rows, other: Rows) -> Floats:
        """Pairs of texts [pairs, features]: likeness of n-grams and of words, and how far each habit differs."""
        grams = np.asarray(self.grams[one].multiply(self.grams[other]).sum(axis=1)).reshape(-1, 1)
        words = (self.words[one] * self.words[other]).sum(axis=1, keepdims=True)
        shorter = np.minimum(self.habits[one, :1], self.habits[other, :1])
        return np.hstack([grams, words, shorter, np.abs(self.habits[one] - self.habits[other])])


def _habits(text: str) -> list[float]:
    n, words = max(1, len(text)), WORD.findall(text)
    mean_word = sum(map(len, words)) / max(1, len(words))
    capitals, digits = sum(map(str.isupper, text)), sum(map(str.isdigit, text))
    return [float(np.log1p(n)), mean_word, capitals / n, digits / n, *(text.count(mark) / n for mark in MARKS)]
