"""A stratified sample: an order in which to draw it, estimates from it, and how far chance moves them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from unseen.evaluation.intervals import Spread
from unseen.types.arrays import Codes, Floats, Mask, Rows

STEP = 1e-5
"""Of the derivative of a metric by its tallies."""
TINY = 1e-15
LEANING = 2.0
"""Rows by which the variance of a stratum leans on that of all: two right answers are no proof of a sure stratum."""


def interleaved(strata: Codes, share: Floats, draw: np.random.Generator, mixed: bool = False) -> Rows:
    """All rows in an order of which every beginning is a random sample of each stratum, which get their `share` of it.

    With `mixed` nobody can tell from its place in the order which stratum a row is of.
    """
    shuffled = draw.permutation(len(strata))
    waiting = [shuffled[strata[shuffled] == stratum] for stratum in range(strata.max() + 1)]
    # the highest quotient is next, as seats are given to parties: more seats never take one away
    sizes = [len(rows) for rows in waiting]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    turn = np.concatenate([np.arange(size) for size in sizes]) + (draw.random(len(strata)) if mixed else 0.5)
    return np.concatenate(waiting)[np.argsort(-share[owner] / turn, kind="stable")]


def joined_strata(strata: Codes, known: Mask) -> Codes:
    """The strata of each row, joined to their neighbours until each has two known rows."""
    counts = np.bincount(strata[known], minlength=int(strata.max()) + 1)
    group, count, groups = 0, 0, np.empty(len(counts), np.int64)
    for stratum, rows in enumerate(counts):
        groups[stratum] = group
        count += rows
        if count >= 2 and counts[stratum + 1 :].sum() >= 2:
            group, count = group + 1, 0
    return groups[strata]


def slope_of(metric_of: Callable[[Floats], Floats], means: Floats) -> Floats:
    """The derivative of a metric by each mean."""
    steps = STEP * np.eye(len(means))
    return np.nan_to_num((metric_of(means + steps) - metric_of(means - steps)) / (2 * STEP))


class Strata:
    """The known rows of each stratum, and how many rows they stand for."""

    def __init__(self, groups: Codes, known: Mask) -> None:
        self.group = groups[known]
        self.sizes = np.bincount(groups)
        self.counts = np.bincount(self.group, minlength=len(self.sizes))
        self.share = self.sizes / self.sizes.sum()

    def mean(self, values: Floats) -> Floats:
        """The mean of all rows by that of the known ones of each stratum."""
        return np.asarray((self.share / self.counts)[self.group] @ values)

    def worth(self, values: Floats) -> float:
        """How many rows of equal weight the known rows are worth, each counted so often: (Σ weights)² / Σ weights²."""
        weights = (self.share / self.counts)[self.group] * values
        return float(max(1.0, weights.sum() ** 2 / max((weights**2).sum(), TINY)))

    def _centred(self, values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(self.group, weights=values) / self.counts)[self.group])

    @property
    def _weights(self) -> Floats:
        """What a squared deviation adds to the variance of the mean, but for the degrees of freedom."""
        return np.asarray(self.share**2 / self.counts * (1 - self.counts / self.sizes))

    def tuned(self, actual: Floats, foreseen: Floats) -> float:
        """How far to trust what was foreseen, from 0 to 1, for the least variance of the mean."""
        centred, weights = self._centred(foreseen), (self._weights / np.maximum(self.counts - 1, 1))[self.group]
        variance = float(weights @ centred**2)
        return float(np.clip(weights @ (centred * self._centred(actual)) / variance, 0, 1)) if variance > TINY else 0.0

    def spread(self, values: Floats) -> Spread:
        """How far chance moves the mean; variances of strata lean on the pooled one as if by `LEANING` more rows."""
        squares = np.bincount(self.group, weights=self._centred(values) ** 2, minlength=len(self.sizes))
        free = self.counts - 1.0
        pooled = squares.sum() / max(free.sum(), 1.0)
        parts = self._weights * (squares + LEANING * pooled) / (free + LEANING)
        total = float(parts.sum())
        if total < TINY:
            return Spread(0.0, 1.0)
        return Spread(total**0.5, max(1.0, float(total**2 / (parts**2 / (free + LEANING)).sum()) - 1))
