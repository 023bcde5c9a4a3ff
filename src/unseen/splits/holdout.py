"""One test part of an asked size and class mix, in scikit-learn's protocol."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import BaseCrossValidator

from unseen.errors import InputError
from unseen.splits.problem import Mask, Problem, pose
from unseen.splits.quotas import Mix
from unseen.types import Certificate

DEFAULT_SEED = 42


@dataclass(frozen=True, eq=False)
class Choice:
    """The rows chosen for the test part, each row's cluster (-1: none), and what is known about them."""

    test: Mask
    clusters: npt.NDArray[np.int32]
    certificate: Certificate
    dev: Mask | None = None
    """Rows of a development part that was given with the split."""
    unused: Mask | None = None
    """Rows that belong to neither side."""

    @property
    def train(self) -> Mask:
        """The rows of the other side, development rows included."""
        return ~self.test if self.unused is None else ~self.test & ~self.unused


class Folds(BaseCrossValidator):  # type: ignore[misc]
    """What all splitters share: `folds` chooses, `split` yields index pairs, `certificates_` remain."""

    __metadata_request__split: ClassVar = {"groups": True}
    reads: ClassVar[str] = "nothing"
    """What `X` must hold: nothing, texts, vectors or a column of values."""

    @abstractmethod
    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The choices, one per pair that `split` yields."""

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Pairs of train and test row positions; afterwards `certificates_` and `clusters_` describe them."""
        choices = self.folds(X, y, groups)
        self.certificates_ = [choice.certificate for choice in choices]
        self.clusters_ = [choice.clusters for choice in choices]
        for choice in choices:
            yield np.flatnonzero(choice.train), np.flatnonzero(choice.test)


class HoldOut(Folds):
    """A splitter with one test part. Subclasses say which units belong into it."""

    def __init__(
        self, test_size: float = 0.1, *, mix: Mix = None, stratify: bool = True, random_state: int = DEFAULT_SEED
    ) -> None:
        self.test_size = test_size
        self.mix = mix
        self.stratify = stratify
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One."""
        return 1

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The one choice, in a list."""
        problem = pose(y, groups, n_rows(X, y), test_size=self.test_size, mix=self.mix, stratify=self.stratify)
        return [self._choose(problem, X)]

    @abstractmethod
    def _choose(self, problem: Problem, X: Any) -> Choice:
        """Solve `problem`."""

    def _in_order(self, problem: Problem, order: npt.NDArray[np.intp]) -> Choice:
        """The choice that fills the quota with the first units in `order`."""
        found = problem.fill(problem.quota, order)
        certificate = problem.certificate(found.chosen, missed_at_least=found.missed_at_least, optimal=found.optimal)
        return Choice(problem.rows_in(found.chosen), np.full(len(problem), -1, np.int32), certificate)


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
