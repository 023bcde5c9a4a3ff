"""Intervals of scores and differences, and why there is none where none would hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unseen.evaluation.bootstrap import DRAWS, bootstrap
from unseen.evaluation.metrics import Metric
from unseen.types.arrays import Codes, Floats

FEWEST_GROUPS = 1.5
"""Groups that are worth fewer have no interval: two of which one has four fifths of the rows."""
MOST_BIAS = 2.5
"""Above it an average over labels has no interval; simulated in docs/results/intervals.md."""
TINY = 1e-12
OF_THE_NUMBER = frozenset({
    "standard_error", "df", "seeds", "few_groups", "few_rows", "few_texts", "no_spread", "labels", "trust", "rungs",
    "by", "why_not", "why", "reason", "undefined", "left_out", "p", "d", "band", "removals", "groups", "unknown",
    "positives", "negatives", "lowest", "highest", "expected", "failure", "sentence",
})  # fmt: skip
"""Tags that say something of a number, how it was made or what it means, and not what it is a number of."""

Bounds = tuple[float | None, float | None]
"""Both ends of an interval, or neither."""


def describes_number(tag: str) -> bool:
    """Whether a tag says something of a number and so does not tell it from others; `p.holm` is a kind of `p`."""
    return tag in OF_THE_NUMBER or tag.startswith("p.")


class Spread(NamedTuple):
    """How far chance moves an estimate: its standard error, and the degrees of freedom that this was estimated with."""

    standard_error: float
    df: float

    @property
    def reach(self) -> float:
        """How far a 95 % interval by Student's t reaches to either side."""
        from scipy.special import stdtrit

        return float(stdtrit(self.df, 0.975)) * self.standard_error

    @property
    def tags(self) -> dict[str, int | float]:
        """The tag `no_spread` where resamples are all the same: five right answers say nothing about the sixth."""
        return {} if self.standard_error else {"no_spread": 1}


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
    groups: Codes | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Interval:
    """The 95 % interval of a metric: its bootstrap standard error, by Student's t, within the metric's bounds.

    With `groups` (one number per row) whole groups are drawn: rows of one author are not independent,
    and an interval that ignores it is too narrow. There is none, and a tag says why, where none would hold:
    see `refusal` and `Spread.tags`.
    """
    refused = refusal(metric, gold, label_names, groups)
    if refused:
        return Interval(None, None, refused)
    value = metric(gold, probabilities, label_names)
    (drawn,) = bootstrap(metric, gold, [probabilities], label_names, groups=groups, draws=draws, seed=seed)
    spread = spread_of(drawn, effective_groups(gold, groups))
    if value is None or spread is None:
        return Interval(None, None)
    return Interval(*within(value, spread, metric.low, metric.high), spread.tags)


def refusal(metric: Metric, gold: Codes, label_names: Sequence[str], groups: Codes | None) -> dict[str, int | float]:
    """Why no interval would hold, as a tag; empty where one does.

    `few_groups` is what the groups are worth (`effective_groups`): too little to tell how groups differ.
    `few_rows` is the rows of the rarest label: an average over many labels of few rows each is biased by more than
    rows drawn again can tell, unless all labels have equally many, which is no accident but how they were drawn.
    """
    worth = effective_groups(gold, groups)
    if groups is not None and worth < FEWEST_GROUPS:
        return {"few_groups": round(worth, 2)}
    if metric.weighting is None or metric.weighting.pooled:
        return {}
    counts = np.bincount(gold, minlength=len(label_names)).astype(np.float64)
    weights = metric.weighting.weights(counts, label_names)
    counting = (weights > 0) & (counts > 0)
    counts, weights = counts[counting], weights[counting]
    if not len(counts) or np.ptp(counts) <= 1:
        return {}
    # a label's score is biased by about 1 / rows and varies by 1 / rows; this is bias over standard error
    bias = (weights / counts).sum() / max(((weights**2) / counts).sum() ** 0.5, TINY)
    return {"few_rows": int(counts.min())} if bias > MOST_BIAS else {}


def effective_groups(gold: Codes, groups: Codes | None) -> float:
    """How many groups of equal size the groups are worth: (Σ rows)² / Σ rows²; without groups, the rows."""
    sizes = np.ones(len(gold)) if groups is None else np.unique(groups, return_counts=True)[1].astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def spread_of(drawn: Floats, groups: float) -> Spread | None:
    """The spread of bootstrap values when so many `groups` or rows were drawn.

    None when not even half of the values are known, or one group was drawn. So many groups drawn with replacement vary
    too little by 1 / groups, which is made good.
    """
    known = drawn[np.isfinite(drawn)]
    if len(known) * 2 <= len(drawn) or groups <= 1:
        return None
    error = float(np.std(known, ddof=1)) * (groups / (groups - 1)) ** 0.5
    return Spread(0.0 if error < TINY else error, groups - 1)


def within(value: float, spread: Spread, low: float, high: float) -> Bounds:
    """The 95 % interval by Student's t on the scale on which the bounds are infinitely far away; none without spread.

    That is the logit where both bounds are finite, the logarithm where the upper one is not. Near a bound an interval
    is not symmetric, and one that is holds less often.
    """
    from scipy.special import expit, logit

    reach = spread.reach
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


def apart(value: float, spread: Spread, most: float) -> Bounds:
    """The 95 % interval of a difference by Student's t, no farther from 0 than `most`; none without spread."""
    reach = spread.reach
    return (max(-most, value - reach), min(most, value + reach)) if reach else (None, None)


def together(first: Spread, second: Spread) -> Spread:
    """The spread of a sum of two estimates that vary apart; its reach holds the reach of both."""
    from scipy.special import stdtridf

    error, reach = np.hypot(first.standard_error, second.standard_error), np.hypot(first.reach, second.reach)
    if not error:
        return first
    return Spread(float(error), float(stdtridf(0.975, reach / error)))


def widened(low: float, high: float, standard_error: float, df: float, families: int) -> tuple[float, float]:
    """The 95 % interval of a fall by Student's t, widened because it was chosen as the worst of so many `families`.

    The bound is Šidák's: all intervals hold at once with a probability of at least 95 %, whether families share their
    reference or not. Falls that go together, as these do, make it rather too wide.

    >>> [round(each, 3) for each in widened(-0.01, 0.11, 0.03, 100.0, 5)]
    [-0.029, 0.129]
    """
    from scipy.special import stdtrit

    both = 0.95 ** (1 / families)
    more = float(stdtrit(df, (1 + both) / 2) - stdtrit(df, 0.975)) * standard_error
    return low - more, high + more


def wilson(count: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of `count` in `n`.

    In closed form, because scipy's takes whole counts alone and label noise sums probabilities.

    >>> tuple(round(each, 3) for each in wilson(0, 10))
    (0.0, 0.278)
    """
    p, z = count / n, 1.959964
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    return max(0.0, middle - reach), min(1.0, middle + reach)


def newcombe(count: int, n: int, other_count: int, other_n: int) -> tuple[float, float]:
    """Newcombe's 95 % interval of the difference of two shares of different rows, from Wilson's of each.

    >>> tuple(round(bound, 4) for bound in newcombe(56, 70, 48, 80))
    (0.0524, 0.3339)
    """
    (low, high), (other_low, other_high) = wilson(count, n), wilson(other_count, other_n)
    share, other = count / n, other_count / other_n
    below = ((share - low) ** 2 + (other_high - other) ** 2) ** 0.5
    above = ((high - share) ** 2 + (other - other_low) ** 2) ** 0.5
    return share - other - below, share - other + above


def product(count: int, n: int, other_count: int, other_n: int) -> tuple[float, float]:
    """The 95 % interval of the product of two independent shares, from Wilson's of each as Newcombe's of a difference.

    >>> tuple(round(bound, 4) for bound in product(80, 100, 15, 20))
    (0.4128, 0.7213)
    """
    (low, high), (other_low, other_high) = wilson(count, n), wilson(other_count, other_n)
    share, other = count / n, other_count / other_n
    below = ((other * (share - low)) ** 2 + (share * (other - other_low)) ** 2) ** 0.5
    above = ((other * (high - share)) ** 2 + (share * (other_high - other)) ** 2) ** 0.5
    return max(0.0, share * other - below), min(1.0, share * other + above)
