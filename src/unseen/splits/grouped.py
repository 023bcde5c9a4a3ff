"""Whole groups, with a size and a class mix as near to the asked ones as provably possible."""

from __future__ import annotations

from typing import Any

from unseen.errors import InputError
from unseen.splits.problem import Choice
from unseen.splits.random import RandomSplit


class GroupedSplit(RandomSplit):
    """Random whole groups (authors, threads, sources): none is on both sides.

    Groups are drawn at random as long as they fit; then the fewest rows are exchanged that bring size
    and class mix as near to the asked ones as any choice of whole groups can. The certificate says by
    how many rows they are missed and whether that is proven to be the least.

    >>> import numpy as np
    >>> y = np.arange(60) % 2; users = np.arange(60) // 3
    >>> train, test = next(GroupedSplit(test_size=0.2).split(np.zeros(60), y, groups=users))
    >>> len(test), set(users[train]) & set(users[test])
    (12, set())
    """

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The one choice, in a list."""
        if groups is None:
            raise InputError("the splitter 'grouped' needs groups", fix="name the attribute that holds them: groups=…")
        return super().folds(X, y, groups)
