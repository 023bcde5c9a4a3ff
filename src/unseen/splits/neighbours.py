"""The nearest centre of every row, and the nearest other rows: exactly, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError
from unseen.machine import usable_threads
from unseen.progress import track
from unseen.seeding import generator
from unseen.splits.vectors import unit_rows
from unseen.types import ROWS_AT_ONCE
from unseen.types.arrays import Floats, Rows, Vectors

DISTANCES = ("euclidean", "cosine")
ASSIGNED_AT_ONCE = ROWS_AT_ONCE // 4
TRAIN_ROWS_AT_ONCE = 4_096
NEIGHBOURS_AT_ONCE = 1_000
SAMPLE = 5_000
"""Rows whose nearest training row is looked up; the mean over more hardly differs."""

Assigned = tuple[npt.NDArray[np.int32], float]
"""The centre of each row, and the weighted sum of squared distances."""


def check_metric(metric: str) -> None:
    """Refuse a metric that is not known."""
    if metric not in DISTANCES:
        raise InputError(f"metric must be one of {DISTANCES}", got=repr(metric))


def assign_all(
    rows: Vectors, weights: Vectors, shift: Vectors, metric: str, centres: Sequence[Vectors], pool: ThreadPoolExecutor
) -> list[Assigned]:
    """The exact nearest centre of every row less `shift`, for several sets of centres in one pass over the rows."""
    labels = [np.empty(len(rows), np.int32) for _ in centres]

    def assign(start: int) -> list[float]:
        part = slice(start, start + ASSIGNED_AT_ONCE)
        block = unit_rows(rows[part]) if metric == "cosine" else np.asarray(rows[part] - shift, np.float32)
        norms = np.einsum("ij,ij->i", block, block)
        inertias = []
        for own, middles in zip(labels, centres, strict=True):
            distances = np.einsum("ij,ij->i", middles, middles) - 2 * (block @ middles.T)
            own[part] = distances.argmin(axis=1)
            nearest = np.take_along_axis(distances, own[part][:, None], axis=1)[:, 0] + norms
            inertias.append(float(weights[part] @ np.maximum(nearest, 0)))
        return inertias

    starts = range(0, len(rows), ASSIGNED_AT_ONCE)
    sums = np.sum(list(track(pool.map(assign, starts), "assigning", len(starts))), axis=0)
    return list(zip(labels, sums.tolist(), strict=True))


def nearest_distances(rows: Vectors, train: Vectors, metric: str = "cosine") -> Floats:
    """Distance of each row to the nearest of `train`, whatever the number of threads."""
    check_metric(metric)
    middle = train.mean(axis=0, dtype=np.float64).astype(np.float32)  # centring keeps float32 exact
    rows = unit_rows(rows) if metric == "cosine" else rows - middle
    norms = np.einsum("ij,ij->i", rows, rows)

    def nearest_in(start: int) -> Vectors:
        block = np.asarray(train[start : start + TRAIN_ROWS_AT_ONCE])
        block = unit_rows(block) if metric == "cosine" else block - middle
        return np.asarray((np.einsum("ij,ij->i", block, block) - 2 * (rows @ block.T)).min(axis=1))

    nearest = np.full(len(rows), np.inf, np.float32)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(usable_threads()) as pool:
        for in_block in pool.map(nearest_in, range(0, len(train), TRAIN_ROWS_AT_ONCE)):
            np.minimum(nearest, in_block, out=nearest)
    squared = np.maximum(nearest.astype(np.float64) + norms, 0)
    return squared / 2 if metric == "cosine" else np.sqrt(squared)


def nearest_rows(vectors: Vectors, rows: Rows, among: Rows, count: int) -> tuple[Rows, Vectors]:
    """Of each row the `count` rows `among` with the highest cosine, the nearest first, and their cosines.

    A row of zeros has no direction: its cosines are zero.
    """

    def directions(chosen: Rows) -> Vectors:
        part = np.asarray(vectors[chosen], np.float32)
        return np.asarray(part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-30), np.float32)

    pool = directions(among)
    nearest, cosines = np.empty((len(rows), count), np.intp), np.empty((len(rows), count), np.float32)
    for start in range(0, len(rows), NEIGHBOURS_AT_ONCE):
        part = slice(start, start + NEIGHBOURS_AT_ONCE)
        block = directions(rows[part]) @ pool.T
        best = np.argpartition(-block, count - 1, axis=1)[:, :count]
        highest = np.take_along_axis(block, best, axis=1)
        order = np.argsort(-highest, axis=1, kind="stable")
        nearest[part] = among[np.take_along_axis(best, order, axis=1)]
        cosines[part] = np.take_along_axis(highest, order, axis=1)
    return nearest, cosines


def sampled(rows: Rows, seed: int, most: int = SAMPLE) -> Rows:
    """At most `most` of these row positions, drawn at random, in order."""
    if len(rows) <= most:
        return rows
    return np.sort(generator(seed, "distance").choice(rows, most, replace=False))
