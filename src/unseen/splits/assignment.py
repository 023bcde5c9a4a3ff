"""The nearest centre of every row, exactly, however many rows there are."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from unseen.progress import track
from unseen.splits.vectors import Rows, unit_rows
from unseen.types import ROWS_AT_ONCE

METRICS = ("euclidean", "cosine")
BLOCK = ROWS_AT_ONCE // 4

Assigned = tuple[npt.NDArray[np.int32], float]
"""The centre of each row, and the weighted sum of squared distances."""


def assign_all(
    rows: Rows, weights: Rows, shift: Rows, metric: str, centres: Sequence[Rows], pool: ThreadPoolExecutor
) -> list[Assigned]:
    """The exact nearest centre of every row less `shift`, for several sets of centres in one pass over the rows."""
    labels = [np.empty(len(rows), np.int32) for _ in centres]

    def assign(start: int) -> list[float]:
        part = slice(start, start + BLOCK)
        block = unit_rows(rows[part]) if metric == "cosine" else np.asarray(rows[part] - shift, np.float32)
        norms = np.einsum("ij,ij->i", block, block)
        inertias = []
        for own, each in zip(labels, centres, strict=True):
            distances = np.einsum("ij,ij->i", each, each) - 2 * (block @ each.T)
            own[part] = distances.argmin(axis=1)
            nearest = np.take_along_axis(distances, own[part][:, None], axis=1)[:, 0] + norms
            inertias.append(float(weights[part] @ np.maximum(nearest, 0)))
        return inertias

    starts = range(0, len(rows), BLOCK)
    sums = np.sum(list(track(pool.map(assign, starts), "assigning", len(starts))), axis=0)
    return list(zip(labels, sums.tolist(), strict=True))


def usable_threads() -> int:
    """Threads this process may use: OMP_NUM_THREADS when set, else the cores it may run on."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, int(asked)) if asked.isdecimal() else cores
