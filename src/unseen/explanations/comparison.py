"""Methods of explanation side by side: the mean of a metric over texts, and the differences between methods.

A metric is one number per text, or several columns whose means decide it, as the IoU F1 of mean precision and mean
recall. Methods are compared on the texts where both have a value. Intervals and tests are about other texts; texts that
belong together are drawn and swapped whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, group_numbers, percentiles, times_drawn
from unseen.evaluation.contrasts import ENUMERATED, drawn_swaps, with_holm
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Codes, Floats

OfMeans = Callable[[Floats], Floats]
"""The metric of the means of its columns [..., columns]."""


def only_column(means: Floats) -> Floats:
    """The metric that is a mean over texts."""
    return np.asarray(means[..., 0])


def method_means(
    metric: str,
    methods: Mapping[str, Floats],
    of_means: OfMeans = only_column,
    *,
    groups: Codes | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """The metric of each method over its texts, with a bootstrap interval; the tag `method` names it."""
    rows = []
    for name, values in methods.items():
        texts = _Texts(groups, values)
        drawn = np.concatenate([of_means(means) for (means,) in texts.resampled(draws, seed)]) if texts.n else None
        value = float(of_means(texts.means[0])) if texts.n else np.nan
        low, high = (None if drawn is None else percentiles(drawn)) or (None, None)
        rows.append(Measurement(metric, None if np.isnan(value) else value, texts.n, low, high, tags={"method": name}))
    return rows


def method_differences(
    metric: str,
    methods: Mapping[str, Floats],
    of_means: OfMeans = only_column,
    *,
    groups: Codes | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """`difference.METRIC` of every two methods, the first less the second, with a paired bootstrap interval.

    The tag `p` is two-sided, from swapping the two methods on texts (or groups) at random; `p.holm` is corrected for
    all pairs that are given back. A pair without a text in common has neither.
    """
    rows = []
    for a, b in combinations(methods, 2):
        tags = {"method": a, "reference": b}
        texts = _Texts(groups, methods[a], methods[b])
        if not texts.n:
            rows.append(Measurement(f"difference.{metric}", None, 0, tags=tags))
            continue
        drawn = [of_means(first) - of_means(second) for first, second in texts.resampled(draws, seed)]
        low, high = percentiles(np.concatenate(drawn)) or (None, None)
        value = float(of_means(texts.means[0]) - of_means(texts.means[1]))
        p = texts.p_value(of_means, draws, seed)
        rows.append(Measurement(f"difference.{metric}", value, texts.n, low, high, tags={**tags, "p": p}))
    return with_holm(rows)


class _Texts:
    """Values of one or two methods [texts, columns] on the texts where all have one, summed over groups."""

    def __init__(self, groups: Codes | None, *methods: Floats) -> None:
        if len({len(values) for values in (*methods, *([] if groups is None else [groups]))}) > 1:
            raise InputError("methods are compared on the same texts", expected="as many values and groups")
        table = np.stack([np.asarray(values, np.float64).reshape(len(values), -1) for values in methods], axis=1)
        known = np.isfinite(table).all(axis=(1, 2))
        self.n = int(known.sum())
        group = group_numbers(None if groups is None else groups[known], self.n)
        self._sizes = np.bincount(group).astype(np.float64)
        self._sums = np.zeros((len(self._sizes), *table.shape[1:]))
        np.add.at(self._sums, group, table[known])

    @property
    def means(self) -> Floats:
        """The mean of each method's columns [methods, columns]."""
        return np.asarray(self._sums.sum(axis=0) / self.n)

    def resampled(self, draws: int, seed: int) -> list[Floats]:
        """The means [methods, some, columns] of bootstrap samples, in blocks."""
        blocks = []
        for times in times_drawn(len(self._sizes), draws, generator(seed, "bootstrap")):
            means = np.tensordot(times, self._sums, 1) / (times @ self._sizes)[:, None, None]
            blocks.append(np.moveaxis(means, 1, 0))
        return blocks

    def p_value(self, of_means: OfMeans, draws: int, seed: int) -> float:
        """Share of ways to swap two methods that part them at least as far as they are; exact with few groups."""
        first, second = self.means
        apart = []
        for swaps in drawn_swaps(len(self._sizes), draws, seed):
            moved = swaps @ (self._sums[:, 1] - self._sums[:, 0]) / self.n
            apart.append(np.abs(of_means(first + moved) - of_means(second - moved)))
        as_far = int((np.concatenate(apart) >= abs(of_means(first) - of_means(second)) - 1e-12).sum())
        ways = sum(map(len, apart))
        return as_far / ways if len(self._sizes) <= ENUMERATED else (1 + as_far) / (1 + ways)
