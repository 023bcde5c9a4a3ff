"""How many words test texts share with training texts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.analysis.sides import mean_of, sides_of
from unseen.analysis.words import Words, words_for
from unseen.machine import usable_threads
from unseen.progress import track
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Floats, Rows

BLOCK = 256
"""Texts looked up at a time."""


def unigram_overlap(data: Dataset, split: Split, words: Words | None = None) -> list[Measurement]:
    """Mean over test texts of the highest cosine similarity to any training text; counts of words, no stop words.

    1 means that every test text has the words of some training text. A text without words counts as 0.
    Short texts score high because one shared word is much of them: compare splits of the same data.
    """
    sides = sides_of(data, split)
    overlaps = highest_overlaps(words_for(data, words), sides.test, sides.train)
    return [mean_of("unigram_overlap", overlaps, sides.tags(), most=1.0)]


def highest_overlaps(words: Words, rows: Rows, others: Rows) -> Floats:
    """The highest cosine similarity of each of `rows` to any of `others`; exact, whatever the number of threads."""
    from unseen.analysis.kernels import highest_similarities

    counts = words.content.counts
    index = _pieces(counts[others].tocsc())
    squares = _squares(counts[others])

    def look_up(block: Rows) -> Floats:
        own = counts[block]
        return np.sqrt(highest_similarities(*_pieces(own), *index, squares) / np.maximum(_squares(own), 1))

    blocks = [rows[start : start + BLOCK] for start in range(0, len(rows), BLOCK)]
    with ThreadPoolExecutor(usable_threads()) as pool:
        return np.concatenate([np.empty(0), *track(pool.map(look_up, blocks), "word overlap", len(blocks))])


def _pieces(table: Any) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The arrays of a sparse table, always of the same types, so that the kernel is compiled once."""
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data.astype(np.int32)


def _squares(counts: Any) -> Floats:
    """Squared length of each row."""
    squared = counts.astype(np.float64)
    return np.asarray(squared.multiply(squared).sum(axis=1)).ravel()
