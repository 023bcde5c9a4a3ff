"""One test part of an asked size and class mix, in scikit-learn's protocol."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from unseen.errors import InputError
from unseen.splits.problem import Choice, Problem, pose
from unseen.splits.quotas import Mix
from unseen.types.arrays import Rows

DEFAULT_SEED = 42


class Folds(BaseCrossValidator):  # type: ignore[misc]
    """What all splitters share: `folds` chooses, `split` yields index pairs, `certificates_` remain."""

    __metadata_request__split: ClassVar = {"groups": True}
    reads: ClassVar[str] = "nothing"
    """What `X` must hold: nothing, texts, vectors or a column of values."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One, unless a splitter says otherwise."""
        return 1

    @abstractmethod
    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The choices, one per pair that `split` yields."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Pairs of train and test row positions; afterwards `certificates_` and `clusters_` describe them."""
        choices = self.folds(X, y, groups)
        self.certificates_ = [choice.certificate for choice in choices]
        self.clusters_ = [choice.clusters for choice in choices]
        for choice in choices:
            yield np.flatnonzero(choice.train), np.flatnonzero(choice.test)


@dataclass(eq=False, repr=False, kw_only=True)
class HoldOut(Folds):
    """A splitter with one test part. Subclasses say which units belong into it."""

    test_size: float = field(default=0.1, kw_only=False)
    mix: Mix = None
    stratify: bool = True
    random_state: int = DEFAULT_SEED

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The one choice, in a list."""
        problem = pose(y, groups, n_rows(X, y), test_size=self.test_size, mix=self.mix, stratify=self.stratify)
        return [self._choose(problem, X)]

    @abstractmethod
    def _choose(self, problem: Problem, X: Any) -> Choice:
        """Solve `problem`."""

    def _in_order(self, problem: Problem, order: Rows) -> Choice:
        """The choice that fills the quota with the first units in `order`."""
        filled = problem.fill(problem.quota, order)
        return problem.choice(filled.chosen, missed_at_least=filled.missed_at_least, optimal=filled.optimal)


def n_rows(X: Any, y: Any) -> int:
    """Number of rows of whichever is given."""
    for values in (X, y):
        if values is not None:
            return int(values.shape[0]) if hasattr(values, "shape") else len(values)
    raise InputError("split needs X or y", expected="at least one of them, to know how many rows there are")


def seed_of(random_state: Any) -> int:
    """`random_state` as a whole number; anything else could not be written down and used again."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    raise InputError("random_state must be a whole number", got=repr(random_state))
