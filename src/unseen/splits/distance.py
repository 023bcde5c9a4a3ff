"""How far a test part is from a training part: the distance to the nearest training row."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError
from unseen.seeding import generator
from unseen.splits.assignment import METRICS, usable_threads
from unseen.splits.vectors import Rows, unit_rows

SAMPLE = 5_000
"""Rows whose nearest training row is looked up; the mean over more hardly differs."""
BLOCK = 4_096


def nearest_distances(rows: Rows, train: Rows, metric: str = "cosine") -> npt.NDArray[np.float64]:
    """Distance of each row to the nearest of `train`; exact, in blocks, whatever the number of threads."""
    if metric not in METRICS:
        raise InputError(f"metric must be one of {METRICS}", got=repr(metric))
    middle = train.mean(axis=0, dtype=np.float64).astype(np.float32)  # centring keeps float32 exact
    rows = unit_rows(rows) if metric == "cosine" else rows - middle
    norms = np.einsum("ij,ij->i", rows, rows)

    def nearest_in(start: int) -> npt.NDArray[np.float32]:
        block = np.asarray(train[start : start + BLOCK])
        block = unit_rows(block) if metric == "cosine" else block - middle
        return np.asarray((np.einsum("ij,ij->i", block, block) - 2 * (rows @ block.T)).min(axis=1))

    nearest = np.full(len(rows), np.inf, np.float32)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(usable_threads()) as pool:
        for found in pool.map(nearest_in, range(0, len(train), BLOCK)):
            np.minimum(nearest, found, out=nearest)
    squared = np.maximum(nearest.astype(np.float64) + norms, 0)
    return squared / 2 if metric == "cosine" else np.sqrt(squared)


def sampled(rows: npt.NDArray[np.intp], seed: int, most: int = SAMPLE) -> npt.NDArray[np.intp]:
    """At most `most` of these row positions, drawn at random, in order."""
    if len(rows) <= most:
        return rows
    return np.sort(generator(seed, "distance").choice(rows, most, replace=False))
