"""What splitters need of vectors: directions, an order of their own, enough that differ."""

from __future__ import annotations

import numpy as np

from unseen.errors import InfeasibleError, VectorsError
from unseen.types import ROWS_AT_ONCE, some
from unseen.types.arrays import Keys, Rows, Vectors


def check_distinct(keys: Keys, k: int) -> None:
    """Refuse vectors, given by their keys, of which fewer differ than there shall be clusters."""
    distinct = len(np.unique(keys))
    if distinct == 1 and len(keys) > 1:
        raise InfeasibleError(
            "all vectors are the same",
            expected="vectors that tell texts apart",
            fix="texts that differ; or encode again",
        )
    if distinct < k:
        raise InfeasibleError(
            f"only {distinct} different vectors for {k} clusters",
            fix=f"ask for at most {distinct} clusters, or bring vectors that tell more texts apart",
        )


def unit_rows(rows: Vectors) -> Vectors:
    """`rows` scaled to length one; refuses rows of zeros, which have no direction."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if (lengths == 0).any():
        raise zero_vectors(np.flatnonzero(lengths == 0), len(rows))
    return np.asarray(rows / lengths[:, None], dtype=np.float32)


def zero_vectors(where: Rows, n: int) -> VectorsError:
    """The error for rows of zeros."""
    return VectorsError(
        f"{len(where)} of {n} vectors are all zeros, which have no direction",
        expected="at least one number other than zero in each row",
        got=f"rows {some(where)}",
        fix="look at the texts of these rows (empty? no known word?), drop them or use another encoder",
    )


def row_keys(rows: Vectors) -> Keys:
    """A hash of each row's content, so that rows can be visited in an order that is theirs."""
    width = rows.shape[1]
    factors = np.random.Generator(np.random.PCG64(2023)).integers(1, 2**63, width, dtype=np.uint64) * 2 + 1
    keys = np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        block = np.ascontiguousarray(rows[start : start + ROWS_AT_ONCE], dtype=np.float32) + np.float32(0)
        keys[start : start + len(block)] = scramble(block.view(np.uint32).astype(np.uint64), 0) @ factors
    return keys


def scramble(keys: Keys, seed: int) -> Keys:
    """`keys` mixed with `seed` (the finaliser of SplitMix64), uniform whatever they were."""
    with np.errstate(over="ignore"):
        mixed = keys + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))


def require_directions(rows: Vectors) -> None:
    """Refuse rows of zeros."""
    nothing = ~rows.any(axis=1)
    if nothing.any():
        raise zero_vectors(np.flatnonzero(nothing), len(rows))
