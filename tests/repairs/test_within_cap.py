"""At most so many rows per cell: the function that repairs and transfers share."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from unseen.seeding import generator
from unseen.splits.caps import within_cap


@pytest.mark.parametrize("most", [1, 3, 50])
def test_each_cell_has_as_many_as_it_may(most: int) -> None:
    cells = np.random.default_rng(0).zipf(1.5, 500) % 40 - 5
    stays = within_cap(cells, most, generator(1, "cap"))
    assert Counter(cells[stays].tolist()) == {cell: min(most, n) for cell, n in Counter(cells.tolist()).items()}


def test_the_first_of_a_shuffle_stay() -> None:
    cells = np.random.default_rng(2).integers(0, 6, 80)
    seen: Counter[int] = Counter()
    expected = np.zeros(80, bool)
    for row in generator(42, "cap").permutation(80):
        expected[row] = seen[cells[row]] < 4
        seen[cells[row]] += 1
    assert np.array_equal(within_cap(cells, 4, generator(42, "cap")), expected)


def test_no_rows_are_no_problem() -> None:
    assert within_cap(np.empty(0, np.intp), 3, generator(0, "cap")).tolist() == []
