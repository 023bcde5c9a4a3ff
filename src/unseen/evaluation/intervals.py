"""Bootstrap intervals, by rows or by whole groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unseen.evaluation.metrics import Codes, Floats, Metric
from unseen.seeding import generator

DRAWS = 1_000


def interval(
    metric: Metric,
    gold: Codes,
    probabilities: Floats,
    label_names: Sequence[str],
    *,
    groups: npt.NDArray[np.integer] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> tuple[float, float] | None:
    """The 95 % percentile interval of a metric; None when most resamples cannot give a value.

    With `groups` (one number per row) whole groups are drawn: rows of one author are not independent,
    and an interval that ignores it is too narrow.
    """
    values = [
        metric(gold[rows], probabilities[rows], label_names) for rows in resamples(len(gold), groups, draws, seed)
    ]
    known = np.array([value for value in values if value is not None])
    if len(known) * 2 <= draws:
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def resamples(n: int, groups: npt.NDArray[np.integer] | None, draws: int, seed: int) -> Iterator[npt.NDArray[np.intp]]:
    """Row positions of each resample."""
    draw = generator(seed, "bootstrap")
    if groups is None:
        for _ in range(draws):
            yield draw.integers(n, size=n)
        return
    unit = np.unique(groups, return_inverse=True)[1]
    units = int(unit.max()) + 1
    for _ in range(draws):
        times = np.bincount(draw.integers(units, size=units), minlength=units)
        yield np.repeat(np.arange(n), times[unit])
