"""From keys to pairs: rows that share a key in some band are compared."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from unseen.duplicates.kernels import candidates, lay_out
from unseen.machine import usable_threads
from unseen.progress import track
from unseen.types.arrays import Floats, Keys

Places = npt.NDArray[np.int64]

MOST, FEW = 64, 16
"""More rows than `MOST` with one key are a crowd: there each is compared with `FEW` others in every band, others in
each, so that cost stays linear in the rows."""


def matching(
    keys: Keys, compare: Callable[[Places, Places], Floats], threshold: float
) -> tuple[Places, Places, Floats]:
    """Pairs with a key in common in some band of `keys` [bands, rows] whose similarity reaches the threshold.

    `compare` gives the similarity of pairs. Each pair is compared once, and they come in no particular order.
    """
    places, crowded = np.empty(keys.shape, np.int32), np.zeros(keys.shape, np.bool_)

    def sort(band: int) -> npt.NDArray[np.int32]:
        order = np.argsort(keys[band], kind="stable").astype(np.int32)
        lay_out(keys[band], band, MOST, order, places[band], crowded[band])
        return order

    def look(band: int) -> tuple[Places, Places, Floats]:
        nothing = np.empty(0, np.int64)
        count = candidates(keys, band, orders[band], places, crowded, FEW, nothing, nothing)
        first, second = np.empty(count, np.int64), np.empty(count, np.int64)
        candidates(keys, band, orders[band], places, crowded, FEW, first, second)
        similarity = compare(first, second)
        good = similarity >= threshold
        return first[good], second[good], similarity[good]

    with ThreadPoolExecutor(usable_threads()) as pool:
        orders = list(pool.map(sort, range(len(keys))))
        by_band = list(track(pool.map(look, range(len(keys))), "near-duplicates", len(keys)))
    first, second, similarity = (np.concatenate(bands) for bands in zip(*by_band, strict=True))
    return first, second, similarity
