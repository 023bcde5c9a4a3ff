"""Texts that say nearly the same, by their vectors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.duplicates.candidates import Places, matching
from unseen.duplicates.pairs import Pairs
from unseen.errors import InputError
from unseen.progress import track
from unseen.seeding import generator
from unseen.types.arrays import Floats, Keys, Rows, Vectors

EXACT = 20_000
"""Up to so many vectors, all pairs are compared."""
BANDS, BITS = 48, 20
"""Pairs with a cosine of .95 share one of the keys with probability .997, unrelated ones with .00005."""
PARTNERS = 256
"""Of more vectors than that which are all alike, not every pair is kept."""
BLOCK = 2_048
"""Vectors multiplied at a time."""


def vector_pairs(vectors: npt.ArrayLike, threshold: float = 0.95, seed: int = 42) -> Pairs:
    """Rows whose vectors have a cosine of at least `threshold`; vectors of zeros are like none.

    All pairs of up to 20,000 distinct vectors are compared; a vector with more than 256 partners after it keeps that
    many. Of more vectors, only those are compared that lie on the same sides of 20 random planes through their
    centre, in one of 48 draws: time grows with the rows, what is found is verified, and a pair at .95 is missed with
    probability .003; more where all vectors point one way, or hundreds lie together.
    """
    if not 0 < threshold <= 1:
        raise InputError("a cosine that makes vectors alike is above 0 and at most 1", got=str(threshold))
    vectors = np.asarray(vectors, dtype=np.float32)
    if vectors.ndim != 2:
        raise InputError("vectors have the wrong shape", expected="one row per text", got=str(vectors.shape))
    stands_for, distinct = _equal(vectors)
    unit = _unit(vectors[distinct])
    search = _all_pairs if len(unit) <= EXACT else _hashed_pairs
    first, second, similarity = search(unit, threshold, seed)
    return Pairs.among(distinct, stands_for, first, second, np.minimum(similarity, 1.0))


def _equal(vectors: Vectors) -> tuple[Rows, Rows]:
    """The first row with each row's vector, and these first rows without zeros, in an order that content decides."""
    hashed = _hashed(vectors)
    _, first, which = np.unique(hashed, return_index=True, return_inverse=True)
    stands_for, filled = first[which].astype(np.intp), np.empty(len(vectors), np.bool_)
    for start in range(0, len(vectors), BLOCK):
        here = np.arange(start, min(len(vectors), start + BLOCK))
        filled[here] = np.any(vectors[here], axis=1)
        other = np.any(vectors[here] != vectors[stands_for[here]], axis=1) | ~filled[here]
        stands_for[here[other]] = here[other]  # zeros are like none, and two hashes may be equal by chance
    distinct = np.flatnonzero(filled & (stands_for == np.arange(len(vectors))))
    return stands_for, distinct[np.argsort(hashed[distinct], kind="stable")]


def _hashed(vectors: Vectors) -> Keys:
    """A number per vector, the same for equal ones."""
    factors = generator(0, "equal vectors").integers(0, 2**63, vectors.shape[1], dtype=np.uint64) | np.uint64(1)
    hashed = np.empty(len(vectors), np.uint64)
    for start in range(0, len(vectors), BLOCK):
        block = np.ascontiguousarray(vectors[start : start + BLOCK] + np.float32(0))  # −0 is 0
        hashed[start : start + BLOCK] = (block.view(np.uint32) * factors).sum(axis=1, dtype=np.uint64)
    return hashed


def _unit(vectors: Vectors) -> Vectors:
    """Vectors of length one."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    return np.asarray(vectors / lengths.astype(np.float32)[:, None], dtype=np.float32)


def _all_pairs(unit: Vectors, threshold: float, seed: int) -> tuple[Places, Places, Floats]:
    by_block = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    draw = generator(seed, "partners")
    starts = range(0, len(unit), BLOCK)
    for start in track(starts, "semantic neighbours", len(starts)):
        products = unit[start : start + BLOCK] @ unit[start:].T
        near = np.triu(products >= threshold - 1e-6, 1)
        for row in np.flatnonzero(near.sum(axis=1) > PARTNERS):
            partners = np.flatnonzero(near[row])
            near[row, draw.permutation(partners)[PARTNERS:]] = False
        first, second = np.nonzero(near)
        by_block.append((first + start, second + start, products[first, second].astype(np.float64)))
    first, second, similarity = (np.concatenate(blocks) for blocks in zip(*by_block, strict=True))
    return first, second, similarity


def _hashed_pairs(unit: Vectors, threshold: float, seed: int) -> tuple[Places, Places, Floats]:
    def compare(first: Places, second: Places) -> Floats:
        similarity = np.empty(len(first))
        for start in range(0, len(first), BLOCK):
            here = slice(start, start + BLOCK)
            similarity[here] = np.einsum("nd,nd->n", unit[first[here]], unit[second[here]])
        return similarity

    return matching(_sides(unit, seed), compare, threshold - 1e-6)


def _sides(unit: Vectors, seed: int) -> Keys:
    """For each band, on which sides of its planes a vector lies, as one number."""
    planes = generator(seed, "planes").standard_normal((unit.shape[1], BANDS * BITS), dtype=np.float32)
    centre = unit.mean(axis=0) @ planes
    weights = (np.uint64(1) << np.arange(BITS, dtype=np.uint64))[None, None, :]
    keys: Keys = np.empty((BANDS, len(unit)), np.uint64)
    for start in range(0, len(unit), BLOCK):
        sides = (unit[start : start + BLOCK] @ planes > centre).reshape(-1, BANDS, BITS)
        keys[:, start : start + BLOCK] = (sides * weights).sum(axis=2, dtype=np.uint64).T
    return keys
