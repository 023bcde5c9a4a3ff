"""A split that somebody else made: a column, or row positions."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from unseen.errors import InputError
from unseen.splits.holdout import Folds
from unseen.splits.problem import Choice
from unseen.types import some

TEST_NAMES = frozenset({"test", "tst", "eval", "evaluation"})
TRAIN_NAMES = frozenset({"train", "training", "trn"})
DEV_NAMES = frozenset({"dev", "val", "valid", "validation", "development"})
UNUSED = frozenset({"", "none", "nan", "unused", "independent"})


class PredefinedSplit(Folds):
    """The parts that `X` names: one of train, test, dev (or their usual other names) per row.

    An empty part means that the row is on neither side; development rows count as training rows here
    and keep their part in a split file.

    >>> train, test = next(PredefinedSplit().split(["train", "test", "train"]))
    >>> test.tolist()
    [1]
    """

    reads: ClassVar[str] = "column"

    def folds(self, X: Any, y: Any = None, groups: Any = None) -> list[Choice]:
        """The one choice, in a list."""
        if groups is not None:
            raise InputError("groups have no effect on the splitter 'predefined'", fix="leave them out")
        parts = part_names(X)
        test = np.array([part == "test" for part in parts])
        unused = np.array([part == "" for part in parts])
        if not test.any() or not (~test & ~unused).any():
            raise InputError("the parts leave one side without rows", got=f"{int(test.sum())} test rows")
        dev = np.array([part == "dev" for part in parts])
        notes = (f"{int(unused.sum())} rows are on neither side",) if unused.any() else ()
        return [Choice.given(test, y, notes, dev, unused)]


def part_names(values: Any) -> list[str]:
    """`train`, `test`, `dev` or nothing for each value; refuses names that say none of these."""
    names = [str("" if value is None else value).strip().casefold() for value in values]
    known = dict.fromkeys(TEST_NAMES, "test") | dict.fromkeys(TRAIN_NAMES, "train") | dict.fromkeys(DEV_NAMES, "dev")
    known |= dict.fromkeys(UNUSED, "")
    unknown = sorted(set(names) - known.keys())
    if unknown:
        raise InputError(
            "some parts have no known name",
            expected="train, dev (or validation), test, or nothing",
            got=some(repr(name) for name in unknown),
        )
    return [known[name] for name in names]
