"""At most so many rows of one cell: of an author and a class, say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]


def within_cap(cells: npt.NDArray[np.integer], most: int, draw: np.random.Generator) -> Mask:
    """Which rows stay when each cell may have `most` of them; of a larger cell, which ones is drawn.

    A row that must not be capped has a cell of its own.

    >>> within_cap(np.array([3, 3, 7, 3]), 2, np.random.default_rng(1)).sum()
    np.int64(3)
    """
    shuffled = draw.permutation(len(cells))
    order = shuffled[np.argsort(cells[shuffled], kind="stable")]
    starts = np.searchsorted(cells[order], cells[order], side="left")
    stays = np.empty(len(cells), bool)
    stays[order] = np.arange(len(cells)) - starts < most
    return stays
