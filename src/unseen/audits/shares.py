"""Shares with their intervals, and numbers in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.evaluation.intervals import wilson
from unseen.types import Dataset, Measurement, Split

EVIDENCE = 20
"""Ids that a finding shows."""


def share(name: str, where: npt.NDArray[np.bool_], tags: Mapping[str, str | int | float]) -> Measurement:
    """The share of true values, with Wilson's 95 % interval."""
    n, count = len(where), int(where.sum())
    low, high = wilson(count, n)
    return Measurement(name, count / n, n, low, high, tags=dict(tags))


def comparable(data: Dataset, one: Split, other: Split, tolerance: float) -> bool:
    """Whether the test parts of two splits differ in no label by more than a share `tolerance` of the rows."""
    k = len(data.label_names)
    first, second = (np.bincount(data.labels[each.rows("test")], minlength=k) for each in (one, other))
    return bool(np.abs(first - second).max() <= max(1.0, tolerance * second.sum()))


def ids_of(data: Dataset, rows: npt.NDArray[np.intp]) -> tuple[str, ...]:
    """The first few ids."""
    return tuple(data.ids.take(pa.array(rows[:EVIDENCE])).to_pylist())


def score(row: Measurement) -> str:
    """A value with its interval, in words of a sentence."""
    if row.value is None:
        return "unknown"
    bounds = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
    return f"{row.value:.3f}{bounds}"


def points(row: Measurement) -> str:
    """A difference of two scores in points, with its interval."""
    if row.value is None:
        return "an unknown amount"
    bounds = "" if row.low is None or row.high is None else f" [{_hundredths(row.low)}, {_hundredths(row.high)}]"
    return f"{_hundredths(row.value)} points{bounds}"


def _hundredths(value: float) -> str:
    """With one decimal, never minus nought."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def worse(row: Measurement) -> str:
    """A fall as what it is: `is 3.0 points [1.0, 5.0] worse`, or better where it is below zero."""
    if row.value is None or row.value >= 0:
        return f"is {points(row)} worse"
    low, high = (None if each is None else -each for each in (row.high, row.low))
    return f"is {points(replace(row, value=-row.value, low=low, high=high))} better"


def percent(value: float | None) -> str:
    """A share as a percentage."""
    return "unknown" if value is None else f"{100 * value:.1f} %"
