"""Near-duplicate texts by MinHash, every pair verified."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.duplicates.candidates import Places, matching
from unseen.duplicates.kernels import jaccards, minhash_keys
from unseen.duplicates.normal_forms import normal_forms, same_forms
from unseen.duplicates.pairs import Pairs
from unseen.errors import InputError
from unseen.machine import usable_threads
from unseen.seeding import generator
from unseen.types.arrays import Floats, Keys, Rows

HASHES, MOST_ROWS = 125, 5
"""Hash functions of a text, and how many of them make a key at most."""
FOUND = 0.999
"""Pairs at the threshold share a key with at least this probability."""
BLOCK = 4_096
"""Texts hashed at a time."""


def near_pairs(texts: pa.ChunkedArray, threshold: float = 0.8, seed: int = 42) -> Pairs:
    """Texts whose normal forms share at least `threshold` of their character 5-grams (Jaccard).

    MinHash proposes pairs, and each is verified by counting its shingles: whatever is found is right (but for hashes
    of 64 bits that collide). A pair above the threshold may be missed: with a probability of at most .001, of .00005
    from .8 on, and where more than 64 distinct texts share a key, for each is then compared with some 400 of them.
    Texts with an empty form are like equal ones alone. Time grows with the characters, memory is some 500 bytes per
    distinct text.
    """
    if not 0.5 <= threshold <= 1:
        raise InputError("the similarity of near-duplicates is from 0.5 to 1", got=str(threshold))
    forms = normal_forms(texts)
    stands_for = same_forms(texts, forms)
    forms = forms.combine_chunks()
    distinct = _by_content(forms, np.unique(stands_for))
    content = _Content(forms.take(pa.array(distinct)))

    def compare(first: Places, second: Places) -> Floats:
        similarity: Floats = jaccards(
            content.buffer, content.ends, content.longest, content.sizes, threshold, first, second
        )
        return similarity

    first, second, similarity = matching(content.keys(rows_of_a_key(threshold), seed), compare, threshold)
    return Pairs.among(distinct, stands_for, first, second, similarity)


def rows_of_a_key(threshold: float) -> int:
    """How many minima make a key: the more, the fewer pairs are compared in vain; pairs at the threshold are found.

    >>> rows_of_a_key(0.8), rows_of_a_key(0.5)
    (5, 2)
    """
    enough = [rows for rows in range(1, MOST_ROWS + 1) if 1 - (1 - threshold**rows) ** (HASHES // rows) >= FOUND]
    return max(enough)


def _by_content(forms: pa.LargeStringArray, rows: Rows) -> Rows:
    """These rows without the empty ones, in the order of their texts, so that the order of rows decides nothing."""
    chosen = forms.take(pa.array(rows))
    filled = pc.greater(pc.utf8_length(chosen), 0).to_numpy(zero_copy_only=False)
    rows, chosen = rows[filled], chosen.filter(pa.array(filled))
    return np.asarray(rows[pc.sort_indices(chosen).to_numpy().astype(np.intp)], dtype=np.intp)


class _Content:
    """Texts as bytes, for the compiled loops."""

    def __init__(self, texts: pa.LargeStringArray) -> None:
        _, ends, buffer = texts.buffers()
        self.ends = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        self.buffer = np.frombuffer(buffer, np.uint8) if buffer else np.empty(0, np.uint8)
        self.longest = int(np.diff(self.ends).max(initial=0))
        self.sizes = np.zeros(len(texts), np.int32)

    def keys(self, rows: int, seed: int) -> Keys:
        """The keys of every text, of so many minima each, in each band."""
        bands = HASHES // rows
        draw = generator(seed, "minhash").integers(0, 2**32, (bands * rows, 2), dtype=np.uint32)
        draw[:, 0] |= 1
        factors = np.ascontiguousarray(draw.T)
        keys: Keys = np.empty((bands, len(self.sizes)), np.uint64)

        def hash_from(start: int) -> None:
            end = min(len(self.sizes), start + BLOCK)
            minhash_keys(self.buffer, self.ends[start : end + 1], self.longest, factors, rows, keys[:, start:end])

        with ThreadPoolExecutor(usable_threads()) as pool:
            list(pool.map(hash_from, range(0, len(self.sizes), BLOCK)))
        return keys
