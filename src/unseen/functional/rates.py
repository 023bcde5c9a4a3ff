"""Shares of cases, with intervals and tests that know that cases of one template are not independent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.comparisons import ENUMERATED
from unseen.evaluation.intervals import TINY, Spread, apart
from unseen.seeding import generator
from unseen.types import Measurement

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

SWAPS = 10_000
"""Ways to swap two models that are drawn where there are too many to try."""


def rate(
    metric: str,
    outcomes: Floats,
    units: Codes,
    *,
    slice: str = "all",
    tags: Mapping[str, Any] | None = None,
    seed: int = 42,
) -> Measurement:
    """The mean of `outcomes` (1, 0, NaN: not applicable), with a 95 % interval that knows that cases come in `units`.

    The interval is that of Korn and Graubard (1998): exact for as many independent trials as the cases are worth.
    Where all outcomes are the same, that is as many as there are units. NaN outcomes leave the denominator.
    """
    known = np.isfinite(outcomes)
    values, unit = outcomes[known], np.unique(units[known], return_inverse=True)[1].reshape(-1)
    if not len(values):
        return Measurement(metric, None, 0, slice=slice, tags=dict(tags or {}))
    mean, trials = float(values.mean()), _trials(values, unit)
    low, high = (None, None) if trials is None else _exact(mean, trials)
    return Measurement(metric, mean, len(values), low, high, slice, dict(tags or {}))


def _trials(values: Floats, unit: Codes) -> float | None:
    """How many independent trials the outcomes are worth, at most as many as they are; None from one unit.

    The variance is estimated from few units: t with as many degrees of freedom, not with as many as cases.
    """
    from scipy.special import stdtrit

    n, units, mean = len(values), int(unit.max()) + 1, values.mean()
    if mean in (0.0, 1.0):
        return units
    if units < 2:
        return None
    few = float(stdtrit(n - 1, 0.975) / stdtrit(units - 1, 0.975)) ** 2
    return float(min(n, few * mean * (1 - mean) / max(_variance(values, unit), TINY)))


def _variance(values: Floats, unit: Codes) -> float:
    """Of the mean, linearised: units that stray from the mean, each by its cases."""
    units = int(unit.max()) + 1
    return float(units / (units - 1) * (np.bincount(unit, values - values.mean()) ** 2).sum() / len(values) ** 2)


def _exact(mean: float, trials: float) -> tuple[float, float]:
    """The bounds of Clopper and Pearson for a share of so many trials, which need not be whole."""
    from scipy.special import betaincinv

    hits, rest = mean * trials, (1 - mean) * trials
    low = float(betaincinv(hits, rest + 1, 0.025)) if hits else 0.0
    return low, float(betaincinv(hits + 1, rest, 0.975)) if rest else 1.0


def difference(
    metric: str,
    a: Floats,
    b: Floats,
    units: Codes,
    *,
    slice: str = "all",
    tags: Mapping[str, Any] | None = None,
    seed: int = 42,
) -> Measurement:
    """`difference.METRIC`: the rate of `a` less that of `b` on the cases that both can be judged on.

    The interval is Student's t over units; the tag `p` is two-sided, from swapping the models on whole units, exact
    with few of them: if neither is better, swaps change nothing but by chance.
    """
    known = np.isfinite(a) & np.isfinite(b)
    tags = dict(tags or {})
    if not known.any():
        return Measurement(f"difference.{metric}", None, 0, slice=slice, tags=tags)
    gaps, unit = (a - b)[known], np.unique(units[known], return_inverse=True)[1].reshape(-1)
    low, high = _by_t(gaps, unit)
    tags["p"] = swap_p_value(np.bincount(unit, gaps).astype(np.float64), seed)
    return Measurement(f"difference.{metric}", float(gaps.mean()), len(gaps), low, high, slice, tags)


def _by_t(values: Floats, unit: Codes) -> tuple[float | None, float | None]:
    """The interval of a mean of differences, within −1 and 1; none where units are all alike: they say nothing."""
    units, mean = int(unit.max()) + 1, float(values.mean())
    if units < 2 or np.ptp(np.bincount(unit, values) / np.bincount(unit)) == 0:
        return None, None
    return apart(mean, Spread(_variance(values, unit) ** 0.5, units - 1), 1.0)


def swap_p_value(apart: Floats, seed: int = 42) -> float:
    """Share of ways to swap two models unit by unit that part them at least as far as they are.

    `apart` are the differences of the units, not all zero for a p below one.
    """
    apart = apart[apart != 0]
    observed = abs(apart.sum())
    if len(apart) <= ENUMERATED:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(apart))[:, None] >> np.arange(len(apart))) & 1)
        return float((np.abs(signs @ apart) >= observed - 1e-9).mean())
    # units that differ by the same amount are swapped together: how many of them stay is binomial
    sizes, counts = np.unique(np.abs(apart), return_counts=True)
    kept = generator(seed, "swaps").binomial(counts, 0.5, (SWAPS, len(counts)))
    hits = int((np.abs((2 * kept - counts) @ sizes) >= observed - 1e-9).sum())
    return (1 + hits) / (1 + SWAPS)
