"""Which model is better, over several datasets: ranks, whether they differ, and where two orders disagree.

A table of scores [datasets, models] is ranked line by line, 1 the best, equal scores sharing their mean rank. Average
ranks vary with the datasets that somebody happened to choose, so datasets are what their interval is drawn over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.falls import OverSeeds, over_seeds
from unseen.types.arrays import Floats

ALPHA = 0.05


def ranks(scores: Floats, higher_is_better: bool = True) -> Floats:
    """The rank of each model on each dataset [datasets, models].

    >>> ranks(np.array([[0.9, 0.7, 0.7], [0.5, 0.6, 0.4]])).tolist()
    [[1.0, 2.5, 2.5], [2.0, 1.0, 3.0]]
    """
    from scipy.stats import rankdata

    scores = np.asarray(scores, np.float64)
    if scores.ndim != 2 or not np.isfinite(scores).all():
        raise InputError("ranks need a score of every model on every dataset")
    return np.asarray(rankdata(-scores if higher_is_better else scores, axis=1))


def average_ranks(ranked: Floats) -> list[OverSeeds]:
    """The mean rank of each model, with Student's t interval over datasets; it stays between first and last."""
    means = map(over_seeds, ranked.T.tolist())
    return [
        mean if mean.low is None or mean.high is None
        else mean._replace(low=max(1.0, mean.low), high=min(float(ranked.shape[1]), mean.high))
        for mean in means
    ]  # fmt: skip


def friedman(ranked: Floats) -> float | None:
    """p-value of the hypothesis that all models are equally good, by the F form of Friedman's test (Iman, Davenport).

    None with fewer than two datasets or models. Ties share ranks, which makes the test a little cautious.
    """
    from scipy.special import fdtrc

    datasets, models = ranked.shape
    if datasets < 2 or models < 2:
        return None
    chi_square = 12 * datasets / (models * (models + 1)) * ((ranked.mean(axis=0) - (models + 1) / 2) ** 2).sum()
    most = datasets * (models - 1)
    if np.isclose(chi_square, most):
        return 0.0
    statistic = (datasets - 1) * chi_square / (most - chi_square)
    return float(fdtrc(models - 1, (models - 1) * (datasets - 1), statistic))


def critical_difference(models: int, datasets: int) -> float:
    """Average ranks that are further apart than this differ at the 5 % level, by Nemenyi's test of all pairs.

    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - ALPHA, models, np.inf) / 2**0.5
    return float(quantile * (models * (models + 1) / (6 * datasets)) ** 0.5)


def not_apart(averages: Sequence[float], difference: float) -> list[tuple[int, ...]]:
    """The largest groups of models whose average ranks are all within `difference`, best first; none of one model.

    >>> not_apart([1.2, 3.0, 2.0], 1.0)
    [(0, 2), (2, 1)]
    """
    order = np.argsort(averages, kind="stable").tolist()
    groups: list[tuple[int, ...]] = []
    for start in range(len(order)):
        reached = [place for place in order[start:] if averages[place] - averages[order[start]] <= difference + 1e-12]
        if len(reached) > 1 and not any(set(reached) <= set(group) for group in groups):
            groups.append(tuple(reached))
    return groups


class Agreement(NamedTuple):
    """How far two scores order the same models alike."""

    tau: float | None
    """Kendall's τ-b; None where a score does not tell any two models apart."""
    flips: tuple[tuple[int, int], ...]
    """Pairs of models of which each score prefers another, the one that the first score prefers first."""


def agreement(first: Sequence[float], second: Sequence[float]) -> Agreement:
    """The agreement of two scores of the same models, higher being better in both.

    >>> agreement([3, 2, 1], [3, 1, 2])
    Agreement(tau=0.3333333333333333, flips=((1, 2),))
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    signs = [(i, j, np.sign(a[i] - a[j]), np.sign(b[i] - b[j])) for i, j in combinations(range(len(a)), 2)]
    flips = tuple((i, j) if ours > 0 else (j, i) for i, j, ours, theirs in signs if ours * theirs < 0)
    told_apart = [sum(bool(pair[side]) for pair in signs) for side in (2, 3)]
    if not all(told_apart):
        return Agreement(None, flips)
    return Agreement(float(sum(ours * theirs for _, _, ours, theirs in signs) / np.sqrt(np.prod(told_apart))), flips)


def relative_gain(new: Floats, reference: Floats) -> Floats:
    """The rise as a share of the score that was there."""
    return (new - reference) / _not_zero(reference)


def error_reduction(new: Floats, reference: Floats, best: float = 1.0) -> Floats:
    """The share of the remaining error that is gone."""
    return (new - reference) / _not_zero(best - reference)


def published_gain(new: Floats, reference: Floats) -> Floats:
    """What Naseem et al. (2022) print as ΔMP: (new − reference) / (reference − .01), of scores between 0 and 1.

    Their formula takes percents for shares, so that it is nearly `relative_gain`; here only to read their table.

    >>> round(100 * float(published_gain(np.array(0.3028), np.array(0.2572))), 2)
    18.45
    """
    return (new - reference) / _not_zero(reference - 0.01)


GAINS = {"relative": relative_gain, "error_reduction": error_reduction, "delta_mp": published_gain}
"""Ways to say how much better a score is, by name."""


def _not_zero(below: Floats) -> Floats:
    below = np.asarray(below, np.float64)
    return np.where(np.abs(below) < 1e-12, np.nan, below)
