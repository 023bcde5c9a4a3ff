"""Weighted words and pieces of words: TF-IDF that is saved as JSON and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError

BLOCKS: dict[str, dict[str, Any]] = {
    "words": {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    "pieces": {"analyzer": "char_wb", "ngram_range": (2, 5)},
}
MOST_TERMS = 200_000
"""Terms kept per block: the most frequent ones."""
ENOUGH_TEXTS = 200
"""From this many texts on, a term must occur in two of them."""


class Vocabulary:
    """Words, pairs of words, and pieces of two to five characters within words; sublinear TF-IDF."""

    def __init__(self, terms: dict[str, list[str]], weights: dict[str, npt.NDArray[np.float64]]) -> None:
        self.terms = terms
        """Terms of each block, in the order of their columns."""
        self.weights = weights
        """Inverse document frequency of each term."""
        self._blocks = [_with_terms(name, terms[name], weights[name]) for name in BLOCKS if terms[name]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """The vocabulary of `texts`."""
        terms: dict[str, list[str]] = {}
        weights: dict[str, npt.NDArray[np.float64]] = {}
        for name in BLOCKS:
            block = _block(name, min_df=2 if len(texts) >= ENOUGH_TEXTS else 1, max_features=MOST_TERMS)
            try:
                block.fit(texts)
            except ValueError:  # scikit-learn's way of saying that no term is left
                terms[name], weights[name] = [], np.empty(0)
                continue
            terms[name] = block.get_feature_names_out().tolist()
            weights[name] = np.asarray(block.idf_, dtype=np.float64)
        if not any(terms.values()):
            raise InputError("the texts share no words, so TF-IDF says nothing about them")
        return cls(terms, weights)

    def transform(self, texts: Sequence[str]) -> Any:
        """Sparse [texts, terms]."""
        from scipy.sparse import csr_array, hstack

        return csr_array(hstack([block.transform(texts) for block in self._blocks], format="csr"))


def _block(name: str, **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **BLOCKS[name], **options)


def _with_terms(name: str, terms: list[str], weights: npt.NDArray[np.float64]) -> Any:
    if len(weights) != len(terms):
        raise InputError(
            "a vocabulary and its weights do not belong together",
            expected=f"{len(terms)} weights of {name}",
            got=str(len(weights)),
        )
    block = _block(name, vocabulary={term: column for column, term in enumerate(terms)})
    block.idf_ = weights
    return block
