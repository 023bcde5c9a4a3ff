"""Bootstrap intervals, by rows or by whole groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unseen.evaluation.counting import Patterns, times_drawn
from unseen.evaluation.f_scores import scheme_weights
from unseen.evaluation.metrics import Codes, Floats, Metric
from unseen.seeding import generator

DRAWS = 1_000
FEWEST_UNITS = 1.5
"""Groups that are worth less have no interval: two of which one has four fifths of the rows."""
MOST_BIAS = 2.5
"""Above it an average over labels has no interval; simulated in docs/results/intervals.md."""
TINY = 1e-12
STATISTICS = ("standard_error", "df", "seeds", "few_groups", "few_rows", "few_texts", "no_spread")
"""Tags about an interval, which do not tell measurements apart."""


class Spread(NamedTuple):
    """How far chance moves an estimate: its standard error, and the degrees of freedom that this was estimated with."""

    standard_error: float
    df: float


class Interval(NamedTuple):
    """The 95 % interval, or none and the tags that say why."""

    low: float | None
    high: float | None
    tags: Mapping[str, int | float] = {}


def interval(
    metric: Metric,
    gold: Codes,
    probabilities: Floats,
    label_names: Sequence[str],
    *,
    groups: npt.NDArray[np.integer] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Interval:
    """The 95 % interval of a metric: its bootstrap standard error, by Student's t, within the metric's bounds.

    With `groups` (one number per row) whole groups are drawn: rows of one author are not independent,
    and an interval that ignores it is too narrow. There is none, and a tag says why, where none would hold:
    see `refusal` and `unspread`.
    """
    refused = refusal(metric, gold, groups)
    if refused:
        return Interval(None, None, refused)
    value = metric(gold, probabilities, label_names)
    (drawn,) = bootstrap(metric, gold, [probabilities], label_names, groups=groups, draws=draws, seed=seed)
    spread = spread_of(drawn, units_in(gold, groups))
    if value is None or spread is None:
        return Interval(None, None)
    return Interval(*within(value, spread, metric.low, metric.high), unspread(spread))


def refusal(metric: Metric, gold: Codes, groups: npt.NDArray[np.integer] | None) -> dict[str, int | float]:
    """Why no interval would hold, as a tag; empty where one does.

    `few_groups` is what the groups are worth (`units_in`): too little to tell how groups differ.
    `few_rows` is the rows of the rarest label: an average over many labels of few rows each is biased by more than
    rows drawn again can tell, unless all labels have equally many, which is no accident but how they were drawn.
    """
    units = units_in(gold, groups)
    if groups is not None and units < FEWEST_UNITS:
        return {"few_groups": round(units, 2)}
    counts = np.unique(gold, return_counts=True)[1].astype(np.float64)
    if metric.scheme is None or np.ptp(counts) <= 1:
        return {}
    weights = scheme_weights(counts, metric.scheme)
    # a label's score is biased by about 1 / rows and varies by 1 / rows; this is bias over standard error
    bias = (weights / counts).sum() / max(((weights**2) / counts).sum() ** 0.5, TINY)
    return {"few_rows": int(counts.min())} if bias > MOST_BIAS else {}


def units_in(gold: Codes, groups: npt.NDArray[np.integer] | None) -> float:
    """How many units of equal size the groups are worth: (Σ rows)² / Σ rows²; without groups, the rows."""
    sizes = np.ones(len(gold)) if groups is None else np.unique(groups, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def spread_of(drawn: Floats, units: float) -> Spread | None:
    """The spread of bootstrap values when `units` were drawn; None when not even half are known, or one was drawn.

    So many units drawn with replacement vary too little by 1 / units, which is made good.
    """
    known = drawn[np.isfinite(drawn)]
    if len(known) * 2 <= len(drawn) or units <= 1:
        return None
    error = float(np.std(known, ddof=1)) * (units / (units - 1)) ** 0.5
    return Spread(0.0 if error < TINY else error, units - 1)


def unspread(spread: Spread) -> dict[str, int | float]:
    """The tag `no_spread` where resamples are all the same: five right answers say nothing about the sixth."""
    return {} if spread.standard_error else {"no_spread": 1}


def within(value: float, spread: Spread, low: float, high: float) -> tuple[float | None, float | None]:
    """The 95 % interval by Student's t on the scale on which the bounds are infinitely far away; none without spread.

    That is the logit where both bounds are finite, the logarithm where the upper one is not. Near a bound an interval
    is not symmetric, and one that is holds less often.
    """
    from scipy.special import expit, logit, stdtrit

    reach = float(stdtrit(spread.df, 0.975)) * spread.standard_error
    if not reach:
        return None, None
    if not low < value < high:
        return max(low, value - reach), min(high, value + reach)
    above = value - low
    if np.isinf(high):
        return float(low + above * np.exp(-reach / above)), float(low + above * np.exp(reach / above))
    share = above / (high - low)
    ends = expit(logit(share) + np.array([-1, 1]) * reach / (above * (1 - share)))
    return tuple((low + (high - low) * ends).tolist())


def apart(value: float, spread: Spread, most: float) -> tuple[float | None, float | None]:
    """The 95 % interval of a difference by Student's t, no farther from 0 than `most`; none without spread."""
    from scipy.special import stdtrit

    reach = float(stdtrit(spread.df, 0.975)) * spread.standard_error
    return (max(-most, value - reach), min(most, value + reach)) if reach else (None, None)


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
        said = np.array([each.argmax(axis=1) for each in probabilities])
        units = None if groups is None else np.asarray(groups, np.int64).tobytes()
        tallies = _drawn_tallies(gold.astype(np.int64).tobytes(), said.tobytes(), units, len(names), draws, seed)
        return metric.of_counts(tallies, names)
    if metric.of_weights is not None:
        unit = np.arange(len(gold)) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
        models = [metric.of_weights(gold, each, names) for each in probabilities]
        values = [
            [model(times[:, unit].astype(np.float64)) for model in models]
            for times in times_drawn(int(unit.max()) + 1, draws, draw)
        ]
        return np.concatenate(values, axis=1)
    found = [
        [metric(gold[rows], each[rows], names) for each in probabilities]
        for rows in resamples(len(gold), groups, draws, seed)
    ]
    return np.array(found, dtype=np.float64).T  # None becomes NaN


@lru_cache(maxsize=2)
def _drawn_tallies(gold: bytes, said: bytes, units: bytes | None, k: int, draws: int, seed: int) -> Floats:
    """Tallies [models, draws, 3, k] of resamples. Kept, because every metric of labels asks for the same ones."""
    labels = np.frombuffer(gold, np.int64)
    models = np.frombuffer(said, np.int64).reshape(-1, len(labels))
    patterns = Patterns(labels, list(models), k, None if units is None else np.frombuffer(units, np.int64))
    found = [
        [patterns.tallies(counts, model) for model in range(len(models))]
        for counts in patterns.resampled(draws, generator(seed, "bootstrap"))
    ]
    tallies = np.concatenate(found, axis=1)
    tallies.setflags(write=False)
    return tallies


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


def wilson(count: float, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `count` in `n`.

    >>> tuple(round(each, 3) for each in wilson(0, 10))
    (0.0, 0.278)
    """
    p, z = count / n, 1.959964
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)
