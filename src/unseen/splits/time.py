"""The latest rows as the test part."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.splits.holdout import HoldOut
from unseen.splits.problem import Choice, Problem, column
from unseen.types import some
from unseen.types.arrays import Floats


class TimeSplit(HoldOut):
    """The latest rows of each class; whole groups by their latest row.

    `X` holds times: numbers, dates, or ISO 8601 strings. The class mix has a price: with it, a test row
    of one class may be older than a training row of another. `stratify=False` cuts at one moment.

    >>> train, test = next(TimeSplit(test_size=1).split(["2024-05-01", "2025-01-31", "2023-12-24"]))
    >>> test.tolist()
    [1]
    """

    reads: ClassVar[str] = "column"

    def _choose(self, problem: Problem, X: Any) -> Choice:
        times = moments(column(X, len(problem), "X"))
        latest = np.full(problem.n_units, -np.inf)
        np.maximum.at(latest, problem.units, times)
        choice = self._in_order(problem, np.argsort(-latest, kind="stable"))
        before = int((times[choice.test] < times[choice.train].max()).sum())
        return choice.amended(f"{before} test rows are older than the latest training row")


def moments(values: npt.NDArray[Any]) -> Floats:
    """Times as numbers; refuses what is no time, naming the rows."""
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
    elif values.dtype.kind == "M":
        numbers = np.where(np.isnat(values), np.nan, values.astype("datetime64[us]").astype(np.float64))
    else:
        numbers = np.array([_moment(value) for value in values])
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise InputError(
            f"{len(wrong)} rows have no time",
            expected="numbers or ISO 8601 such as 2024-05-31 or 2024-05-31T12:00",
            got=f"row {wrong[0]}: {values[wrong[0]]!r}; rows {some(wrong)}",
        )
    return numbers


def _moment(value: Any) -> float:
    try:
        when = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
    except ValueError:
        return float("nan")
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
