"""Shares of cases, with intervals and tests that know that cases of one template are not independent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.comparisons import ENUMERATED
from unseen.evaluation.counting import times_drawn
from unseen.evaluation.intervals import DRAWS, percentiles
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
    """The mean of `outcomes` (1, 0, NaN: not applicable), with a 95 % interval from drawing whole `units`.

    Where all outcomes are the same, resamples are too and say nothing; the bound is then that of Clopper and
    Pearson for as many independent trials as there are units. NaN outcomes leave the denominator.
    """
    known = np.isfinite(outcomes)
    values, unit = outcomes[known], np.unique(units[known], return_inverse=True)[1].reshape(-1)
    if not len(values):
        return Measurement(metric, None, 0, slice=slice, tags=dict(tags or {}))
    mean = float(values.mean())
    low, high = _all_alike(mean, int(unit.max()) + 1) if mean in (0.0, 1.0) else _drawn(values, unit, seed)
    return Measurement(metric, mean, len(values), low, high, slice, dict(tags or {}))


def _all_alike(mean: float, units: int) -> tuple[float, float]:
    """The exact bounds of a share of 0 or 1."""
    reach = 0.025 ** (1 / units)
    return (reach, 1.0) if mean == 1.0 else (0.0, 1 - reach)


def _drawn(values: Floats, unit: Codes, seed: int) -> tuple[float | None, float | None]:
    sums, sizes = np.bincount(unit, values), np.bincount(unit).astype(np.float64)
    if np.ptp(sums / sizes) == 0:
        return None, None  # one template, or templates that are all alike, say nothing about another
    found = [(times @ sums) / (times @ sizes) for times in times_drawn(len(sizes), DRAWS, generator(seed, "templates"))]
    return percentiles(np.concatenate(found)) or (None, None)


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

    The interval draws whole units; the tag `p` is two-sided, from swapping the models on whole units, exact with
    few of them: if neither is better, swaps change nothing but by chance.
    """
    known = np.isfinite(a) & np.isfinite(b)
    tags = dict(tags or {})
    if not known.any():
        return Measurement(f"difference.{metric}", None, 0, slice=slice, tags=tags)
    apart, unit = (a - b)[known], np.unique(units[known], return_inverse=True)[1].reshape(-1)
    low, high = _drawn(apart, unit, seed)
    tags["p"] = swap_p_value(np.bincount(unit, apart).astype(np.float64), seed)
    return Measurement(f"difference.{metric}", float(apart.mean()), len(apart), low, high, slice, tags)


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
