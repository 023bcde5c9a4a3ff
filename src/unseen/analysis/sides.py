"""The two sides of a split that properties compare, and the mean of a property over one side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Rows


class Sides(NamedTuple):
    """Row positions of the two sides."""

    split: str
    train: Rows
    """Training side: train and dev."""
    test: Rows

    def tags(self, part: str = "test") -> dict[str, str | int | float]:
        """Tags of a measurement of this split."""
        return {"split": self.split, "part": part}


def sides_of(data: Dataset, split: Split) -> Sides:
    """The training side and the test part; refuses a split that lacks one of them."""
    split = split.of(data)
    train = np.sort(np.concatenate([split.rows("train"), split.rows("dev")]))
    test = split.rows("test")
    if not len(train) or not len(test):
        raise InputError(
            f"the split {split.name!r} has nothing to compare", expected="rows in train and in test",
            got=", ".join(f"{part} {count}" for part, count in split.sizes.items()) or "no rows",
        )  # fmt: skip
    return Sides(split.name, train, test)


def mean_of(
    metric: str, values: npt.NDArray[np.number], tags: dict[str, str | int | float], most: float = np.inf
) -> Measurement:
    """The mean over texts with its 95 % interval, kept within 0 and `most`; one text has no interval."""
    values = np.asarray(values, np.float64)
    n = len(values)
    if not n:
        return Measurement(metric, None, 0, tags=tags)
    mean = float(values.mean())
    if n == 1:
        return Measurement(metric, mean, n, tags=tags)
    spread = 1.96 * float(values.std(ddof=1)) / float(np.sqrt(n))
    return Measurement(metric, mean, n, max(0.0, mean - spread), min(most, mean + spread), tags=tags)
