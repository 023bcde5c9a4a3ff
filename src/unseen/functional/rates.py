"""Shares of cases, with intervals and tests that know that cases of one group, such as a template, go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from unseen.evaluation.bootstrap import group_numbers
from unseen.evaluation.contrasts import ENUMERATED
from unseen.evaluation.intervals import TINY, Bounds, Spread, apart
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Codes, Floats, Rows

SWAPS = 10_000
"""Ways to swap two models that are drawn where there are too many to try."""


def rate(
    metric: str,
    outcomes: Floats,
    groups: Codes,
    *,
    weights: Floats | None = None,
    slice: str = "all",
    tags: Mapping[str, Any] | None = None,
) -> Measurement:
    """The mean of `outcomes` (1, 0, NaN: not applicable), with a 95 % interval that knows that cases come in `groups`.

    `weights` are those of cases, all alike when not given. The interval is that of Korn and Graubard (1998): exact for
    as many independent trials as the cases are worth. Where all outcomes are the same, that is as many as there are
    groups. NaN outcomes leave the denominator.
    """
    known = np.isfinite(outcomes) if weights is None else np.isfinite(outcomes) & (weights > 0)
    values, group = outcomes[known], group_numbers(groups[known], len(outcomes))
    if not len(values):
        return Measurement(metric, None, 0, slice=slice, tags=dict(tags or {}))
    weights = np.ones(len(values)) if weights is None else weights[known]
    mean = float(values.mean()) if np.ptp(weights) == 0 else float(np.average(values, weights=weights))
    trials = _trials(values, group, mean, weights / weights.sum())
    low, high = (None, None) if trials is None else _exact(mean, trials)
    return Measurement(metric, mean, len(values), low, high, slice, dict(tags or {}))


def _trials(values: Floats, group: Rows, mean: float, weights: Floats) -> float | None:
    """How many independent trials the outcomes are worth, at most as many as they are; None from one group.

    The variance is estimated from few groups: t with as many degrees of freedom, not with as many as cases.
    """
    from scipy.special import stdtrit

    n, groups = len(values), int(group.max()) + 1
    if np.ptp(values) == 0 and mean in (0.0, 1.0):
        return groups
    if groups < 2:
        return None
    few = float(stdtrit(n - 1, 0.975) / stdtrit(groups - 1, 0.975)) ** 2
    return float(min(n, few * mean * (1 - mean) / max(_variance(values - mean, group, weights), TINY)))


def _variance(strayed: Floats, group: Rows, weights: Floats) -> float:
    """Of the mean, linearised: groups that stray from the mean, each by its cases."""
    groups = int(group.max()) + 1
    return float(groups / (groups - 1) * (np.bincount(group, weights * strayed) ** 2).sum())


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
    groups: Codes,
    *,
    slice: str = "all",
    tags: Mapping[str, Any] | None = None,
    seed: int = 42,
) -> Measurement:
    """`difference.METRIC`: the rate of `a` less that of `b` on the cases that both can be judged on.

    The interval is Student's t over groups; the tag `p` is two-sided, from swapping the models on whole groups, exact
    with few of them: if neither is better, swaps change nothing but by chance.
    """
    known = np.isfinite(a) & np.isfinite(b)
    tags = dict(tags or {})
    if not known.any():
        return Measurement(f"difference.{metric}", None, 0, slice=slice, tags=tags)
    values, group = (a - b)[known], group_numbers(groups[known], len(a))
    low, high = _by_t(values, group)
    tags["p"] = swap_p_value(np.bincount(group, values).astype(np.float64), seed)
    return Measurement(f"difference.{metric}", float(values.mean()), len(values), low, high, slice, tags)


def _by_t(values: Floats, group: Rows) -> Bounds:
    """The interval of a mean of differences, within −1 and 1; none where groups are all alike: they say nothing."""
    groups, mean = int(group.max()) + 1, float(values.mean())
    if groups < 2 or np.ptp(np.bincount(group, values) / np.bincount(group)) == 0:
        return None, None
    alike = np.full(len(values), 1 / len(values))
    return apart(mean, Spread(_variance(values - mean, group, alike) ** 0.5, groups - 1), 1.0)


def swap_p_value(differences: Floats, seed: int = 42) -> float:
    """Share of ways to swap two models group by group that part them at least as far as they are.

    `differences` are those of the groups, not all zero for a p below one.
    """
    differences = differences[differences != 0]
    observed = abs(differences.sum())
    if len(differences) <= ENUMERATED:
        signs = 1.0 - 2.0 * ((np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences))) & 1)
        return float((np.abs(signs @ differences) >= observed - 1e-9).mean())
    # groups that differ by the same amount are swapped together: how many of them stay is binomial
    sizes, counts = np.unique(np.abs(differences), return_counts=True)
    kept = generator(seed, "swaps").binomial(counts, 0.5, (SWAPS, len(counts)))
    hits = int((np.abs((2 * kept - counts) @ sizes) >= observed - 1e-9).sum())
    return (1 + hits) / (1 + SWAPS)
