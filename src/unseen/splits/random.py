"""Rows drawn at random, with the class mix of the data."""

from __future__ import annotations

from typing import Any

from unseen.seeding import generator
from unseen.splits.holdout import HoldOut, seed_of
from unseen.splits.problem import Choice, Problem


class RandomSplit(HoldOut):
    """Random rows; with groups, random whole groups. The baseline that flatters a model.

    >>> import numpy as np
    >>> train, test = next(RandomSplit(test_size=0.25).split(np.zeros(12), ["a", "b", "b"] * 4))
    >>> len(train), len(test)
    (9, 3)
    """

    def _choose(self, problem: Problem, X: Any) -> Choice:
        return self._in_order(problem, generator(seed_of(self.random_state), "random").permutation(problem.n_units))
