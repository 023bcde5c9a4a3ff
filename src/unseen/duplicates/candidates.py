"""From keys to pairs: rows that share a key in some band are compared."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from unseen.duplicates.kernels import candidates, mark_crowds
from unseen.progress import track
from unseen.splits.assignment import usable_threads

Keys = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

WINDOW = 64
"""In a crowd of rows with one key, each is compared with so many that follow it: cost stays linear in the rows."""


def matching(
    keys: Keys, compare: Callable[[Places, Places], Floats], threshold: float
) -> tuple[Places, Places, Floats]:
    """Pairs with a key in common in some band of `keys` [bands, rows] whose similarity reaches the threshold.

    `compare` gives the similarity of pairs. Pairs come in no particular order, each once.
    """
    crowded = np.zeros(keys.shape, np.bool_)

    def sort(band: int) -> npt.NDArray[np.int32]:
        order = np.argsort(keys[band], kind="stable").astype(np.int32)
        mark_crowds(keys[band], order, WINDOW, crowded[band])
        return order

    def look(band: int) -> tuple[Places, Places, Floats]:
        nothing = np.empty(0, np.int64)
        count = candidates(keys, band, orders[band], crowded, WINDOW, nothing, nothing)
        first, second = np.empty(count, np.int64), np.empty(count, np.int64)
        candidates(keys, band, orders[band], crowded, WINDOW, first, second)
        similarity = compare(first, second)
        good = similarity >= threshold
        return first[good], second[good], similarity[good]

    with ThreadPoolExecutor(usable_threads()) as pool:
        orders = list(pool.map(sort, range(len(keys))))
        found = list(track(pool.map(look, range(len(keys))), "near-duplicates", len(keys)))
    first, second, similarity = (np.concatenate(each) for each in zip(*found, strict=True))
    once = np.unique(first * keys.shape[1] + second, return_index=True)[1]
    return first[once], second[once], similarity[once]
