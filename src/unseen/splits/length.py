"""The longest texts as the test part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.splits.holdout import HoldOut
from unseen.splits.problem import Choice, Problem, column
from unseen.types import Dataset
from unseen.types.arrays import Floats


@dataclass(eq=False, repr=False, kw_only=True)
class LengthSplit(HoldOut):
    """The longest texts of each class, or the shortest; whole groups by the mean length of their texts.

    `X` holds texts, whose length is counted in words, or numbers, which are taken as lengths.

    >>> train, test = next(LengthSplit(test_size=1).split(["a b c", "a", "a b"]))
    >>> test.tolist()
    [0]
    """

    reads: ClassVar[str] = "texts"

    hold_out: str = "longest"

    def _choose(self, problem: Problem, X: Any) -> Choice:
        if self.hold_out not in ("longest", "shortest"):
            raise InputError("hold_out must be 'longest' or 'shortest'", got=repr(self.hold_out))
        lengths = word_counts(column(X, len(problem), "X"))
        mean = np.bincount(problem.units, weights=lengths, minlength=problem.n_units) / problem.sizes
        return self._in_order(problem, np.argsort(-mean if self.hold_out == "longest" else mean, kind="stable"))


def word_counts(texts: npt.NDArray[Any]) -> Floats:
    """Words per text; numbers are returned as they are."""
    if texts.dtype.kind in "iuf":
        return texts.astype(np.float64)
    return np.fromiter((len(str(text).split()) for text in texts), np.float64, len(texts))


def word_lengths(data: Dataset) -> npt.NDArray[np.int64]:
    """Words per text of a dataset."""
    words = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(data.texts))
    return pc.list_value_length(words).to_numpy(zero_copy_only=False).astype(np.int64)
