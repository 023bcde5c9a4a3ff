"""Words and pieces of words by a hash that is the same on every machine: no vocabulary to keep, numbers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError

BLOCKS: tuple[dict[str, Any], ...] = (
    {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    {"analyzer": "char_wb", "ngram_range": (3, 5)},
)
BUCKETS = 2**22
"""Values of the hash (MurmurHash3) per block; so many that hardly two terms meet."""
ENOUGH_TEXTS = 200
"""From this many texts on, a term must occur in two of them."""


class HashedTerms:
    """The hashed terms that training texts hold, and how much each weighs; others are not seen."""

    def __init__(self, seen: npt.NDArray[np.int64], weights: npt.NDArray[np.float32]) -> None:
        self.seen = seen
        """Hashes in ascending order; a block's own start at a multiple of `BUCKETS`."""
        self.weights = weights
        """Inverse document frequency of each."""

    def __len__(self) -> int:
        return len(self.seen)

    @classmethod
    def of(cls, texts: Sequence[str]) -> HashedTerms:
        """The terms of `texts`."""
        columns = np.concatenate([block.indices.astype(np.int64) + start for start, block in _blocks(texts)])
        seen, counts = np.unique(columns, return_counts=True)
        often = counts >= (2 if len(texts) >= ENOUGH_TEXTS else 1)
        if not often.any():
            raise InputError("the texts share no words, so nothing can be learnt from them")
        weights = np.log((1 + len(texts)) / (1 + counts[often])) + 1
        return cls(seen[often], weights.astype(np.float32))

    def transform(self, texts: Sequence[str]) -> Any:
        """Sparse float32 [texts, terms], sublinear TF-IDF; words and pieces have length one each."""
        from scipy.sparse import csr_array, hstack

        parts = []
        for start, block in _blocks(texts):
            low, high = np.searchsorted(self.seen, (start, start + BUCKETS))
            parts.append(_weighted(block, self.seen[low:high] - start, self.weights[low:high]))
        return csr_array(hstack(parts, format="csr"))


def _blocks(texts: Sequence[str]) -> list[tuple[int, Any]]:
    from sklearn.feature_extraction.text import HashingVectorizer

    hashers = [
        HashingVectorizer(n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32, **block)
        for block in BLOCKS
    ]
    return [(number * BUCKETS, each.transform(texts)) for number, each in enumerate(hashers)]


def _weighted(block: Any, seen: npt.NDArray[np.int64], weights: npt.NDArray[np.float32]) -> Any:
    """`block` with a column for each of `seen`, rows of length one."""
    from scipy.sparse import csr_array

    places = np.minimum(np.searchsorted(seen, block.indices), max(len(seen) - 1, 0))
    known = seen[places] == block.indices if len(seen) else np.zeros(len(places), dtype=bool)
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[known]
    values = (1 + np.log(block.data[known])) * weights[places[known]]
    lengths = np.sqrt(np.bincount(rows, values.astype(np.float64) ** 2, minlength=block.shape[0]))
    values = (values / lengths[rows]).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=block.shape[0]))])
    return csr_array((values, places[known], starts), shape=(block.shape[0], len(seen)))
