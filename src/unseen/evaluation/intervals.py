"""Bootstrap intervals, by rows or by whole groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from unseen.evaluation.counting import Patterns, times_drawn
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
    (values,) = bootstrap(metric, gold, [probabilities], label_names, groups=groups, draws=draws, seed=seed)
    return percentiles(values)


def bootstrap(
    metric: Metric,
    gold: Codes,
    probabilities: Sequence[Floats],
    label_names: Sequence[str],
    *,
    groups: npt.NDArray[np.integer] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Floats:
    """The metric of several models [models, draws] on the same resamples of rows; NaN where there is no value."""
    names, draw = label_names, generator(seed, "bootstrap")
    if metric.of_counts is not None:
        patterns = Patterns(gold, [each.argmax(axis=1) for each in probabilities], len(names), groups)
        values = [
            [metric.of_counts(patterns.matrices(counts, model), names) for model in range(len(probabilities))]
            for counts in patterns.resampled(draws, draw)
        ]
        return np.concatenate(values, axis=1)
    if metric.of_weights is not None:
        unit = np.arange(len(gold)) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
        values = [
            [metric.of_weights(gold, each, times[:, unit].astype(np.float64), names) for each in probabilities]
            for times in times_drawn(int(unit.max()) + 1, draws, draw)
        ]
        return np.concatenate(values, axis=1)
    found = [
        [metric(gold[rows], each[rows], names) for each in probabilities]
        for rows in resamples(len(gold), groups, draws, seed)
    ]
    return np.array(found, dtype=np.float64).T  # None becomes NaN


def percentiles(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of what is known; None when that is not even half."""
    known = values[np.isfinite(values)]
    if len(known) * 2 <= len(values):
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


def wilson(count: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `count` in `n`.

    >>> tuple(round(each, 3) for each in wilson(0, 10))
    (0.0, 0.278)
    """
    p, z = count / n, 1.959964
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)
