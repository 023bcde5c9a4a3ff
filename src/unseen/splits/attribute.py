"""All rows with certain values of an attribute as the test part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from unseen.errors import InfeasibleError, InputError
from unseen.registry import require_known
from unseen.splits.holdout import Folds
from unseen.splits.problem import Choice


@dataclass(eq=False, repr=False)
class AttributeSplit(Folds):
    """Every row with one of `values` (a source, a target, a topic) in the test part, no other.

    `X` holds the attribute: one value per row, or several in a list. Size and class mix are what the
    values have. Without `values` each value is held out once, in the order of their names.

    >>> train, test = next(AttributeSplit(values=["mail"]).split(["app", "mail", "app", "mail"]))
    >>> test.tolist()
    [1, 3]
    """

    reads: ClassVar[str] = "column"

    values: Iterable[str] | str | None = None

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """One for given values, else one per value of the attribute, for which `X` is needed."""
        if self.values is not None:
            return 1
        if X is None:
            raise InputError("the number of values is not known without X")
        return len(set().union(*_value_sets(X)))

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """One choice for given values, else one per value."""
        if groups is not None:
            raise InputError("groups have no effect on the splitter 'attribute'", fix="leave them out")
        if X is None:
            raise InputError("the splitter 'attribute' needs the attribute's values as X")
        has = _value_sets(X)
        known = sorted(set().union(*has))
        if self.values is None:
            return [_choice({value}, has, y) for value in known]
        values = [self.values] if isinstance(self.values, str) else [str(value) for value in self.values]
        require_known("value of the attribute", known, *values)
        return [_choice(set(values), has, y)]


def _value_sets(X: Any) -> list[frozenset[str]]:
    """The values of each row; a missing value is none."""
    return [
        frozenset(str(member) for member in value)
        if isinstance(value, list | tuple | set | frozenset | np.ndarray)
        else frozenset(() if value is None or value != value else (str(value),))
        for value in X
    ]


def _choice(values: set[str], has: list[frozenset[str]], y: Any) -> Choice:
    test = np.fromiter((bool(values & own) for own in has), bool, len(has))
    if test.all() or not test.any():
        raise InfeasibleError(f"holding out {sorted(values)} leaves nothing on one side")
    return Choice.given(test, y, (f"held out: {', '.join(sorted(values))}",))
