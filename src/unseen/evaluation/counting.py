"""Rows that cannot be told apart are counted together.

A metric of predicted labels sees a row as a pattern: its gold label and what each model said. A sample
of thousands of rows has few patterns, so a thousand resamples of it are a small table of counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unseen.evaluation.f_scores import tally_places
from unseen.evaluation.metrics import Codes, Floats

AT_ONCE = 4_000_000
"""Numbers held at a time while resampling."""


class Patterns:
    """One sample of rows and what several models said about them, as counts of patterns."""

    def __init__(self, gold: Codes, said: Sequence[Codes], k: int, units: Codes | None = None) -> None:
        table = np.column_stack([gold, *said]).astype(np.int64)
        patterns, self._of_row = _distinct(table, k)
        self.sizes = np.bincount(self._of_row, minlength=len(patterns))
        self.gold = patterns[:, 0]
        """The gold label of each pattern."""
        self._k = k
        self._said = patterns[:, 1:].T
        self._unit = None if units is None else np.unique(units, return_inverse=True)[1].reshape(-1)

    def tallies(self, counts: Floats, model: int) -> Floats:
        """Tallies [..., 3, k] of one model (see `f_scores`) from counts of patterns [..., patterns]."""
        from scipy.sparse import csr_array

        rows, columns = tally_places(self.gold, self._said[model], self._k)
        added = csr_array((np.ones(len(rows)), (rows, columns)), shape=(3 * self._k, len(self.gold)))
        found = added @ counts.reshape(-1, len(self.gold)).T  # [3k, some]
        return np.asarray(found.T.reshape(*counts.shape[:-1], 3, self._k))

    def resampled(self, draws: int, draw: np.random.Generator) -> Iterator[Floats]:
        """Counts [some, patterns] of `draws` bootstrap samples, in blocks; units are drawn whole."""
        n = int(self.sizes.sum())
        if self._unit is None:
            for size in blocks(draws, len(self.sizes)):
                yield draw.multinomial(n, self.sizes / n, size=size).astype(np.float64)
            return
        for times in times_drawn(int(self._unit.max()) + 1, draws, draw):
            yield self.of_units(times)

    def of_units(self, times: npt.NDArray[np.integer]) -> Floats:
        """Counts of patterns when each unit is there so many times; `times` is [some, units]."""
        from scipy.sparse import csr_array

        unit = np.arange(len(self._of_row)) if self._unit is None else self._unit
        per_unit = csr_array(
            (np.ones(len(unit)), (self._of_row, unit)), shape=(len(self.sizes), int(unit.max()) + 1)
        )  # [patterns, units]; equal places are summed
        return np.asarray((per_unit @ times.T.astype(np.float64)).T)


def _distinct(table: npt.NDArray[np.int64], k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """The different rows of a table of codes below `k`, and which of them each row is."""
    if k ** table.shape[1] < 2**62:  # one number per row sorts many times faster than a row
        keys = table @ k ** np.arange(table.shape[1], dtype=np.int64)
        first, of_row = np.unique(keys, return_index=True, return_inverse=True)[1:]
        return table[first], of_row.reshape(-1)
    patterns, of_row = np.unique(table, axis=0, return_inverse=True)
    return patterns, of_row.reshape(-1)


def times_drawn(units: int, draws: int, draw: np.random.Generator) -> Iterator[npt.NDArray[np.intp]]:
    """How often each unit is in each of `draws` bootstrap samples [some, units], in blocks."""
    for size in blocks(draws, units):
        drawn = draw.integers(units, size=(size, units)) + units * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units)


def blocks(draws: int, width: int) -> list[int]:
    """How many draws of `width` numbers to make at a time."""
    size = max(1, AT_ONCE // max(1, width))
    return [min(size, draws - start) for start in range(0, draws, size)]
