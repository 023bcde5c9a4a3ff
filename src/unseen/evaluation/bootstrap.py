"""Samples drawn with replacement: metrics of several models on the same resamples of rows, or of whole groups.

Rows that cannot be told apart are counted together. A metric of predicted labels sees a row as a pattern: its gold
label and what each model predicts. A sample of thousands of rows has few patterns, so a thousand resamples of it are a
small table of counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from unseen.evaluation.f_scores import tally_places
from unseen.evaluation.metrics import Metric
from unseen.seeding import generator
from unseen.types.arrays import Codes, Floats, Rows, blocks

DRAWS = 1_000


def bootstrap(
    metric: Metric,
    gold: Codes,
    probabilities: Sequence[Floats],
    label_names: Sequence[str],
    *,
    groups: Codes | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Floats:
    """The metric of several models [models, draws] on the same resamples of rows; NaN where there is no value."""
    if metric.of_counts is not None:
        predicted = np.array([model.argmax(axis=1) for model in probabilities])
        drawn_whole = None if groups is None else np.asarray(groups, np.int64).tobytes()
        rows = gold.astype(np.int64).tobytes(), predicted.tobytes(), drawn_whole
        return metric.of_counts(_drawn_tallies(*rows, len(label_names), draws, seed), label_names)
    assert metric.of_weights is not None
    group = group_numbers(groups, len(gold))
    models = [metric.of_weights(gold, model, label_names) for model in probabilities]
    values = [
        [model(times[:, group].astype(np.float64)) for model in models]
        for times in times_drawn(int(group.max()) + 1, draws, generator(seed, "bootstrap"))
    ]
    return np.concatenate(values, axis=1)


@lru_cache(maxsize=8)  # a fall compares some random splits with some hard ones, metric after metric
def _drawn_tallies(gold: bytes, predicted: bytes, groups: bytes | None, k: int, draws: int, seed: int) -> Floats:
    """Tallies [models, draws, 3, k] of resamples. Kept, because every metric of labels asks for the same ones."""
    labels = np.frombuffer(gold, np.int64)
    models = np.frombuffer(predicted, np.int64).reshape(-1, len(labels))
    patterns = Patterns(labels, list(models), k, None if groups is None else np.frombuffer(groups, np.int64))
    blocks_of_tallies = [
        [patterns.tallies(counts, model) for model in range(len(models))]
        for counts in patterns.resampled(draws, generator(seed, "bootstrap"))
    ]
    tallies = np.concatenate(blocks_of_tallies, axis=1)
    tallies.setflags(write=False)
    return tallies


class Patterns:
    """One sample of rows and what several models predict about them, as counts of patterns."""

    def __init__(self, gold: Codes, predicted: Sequence[Codes], k: int, groups: Codes | None = None) -> None:
        table = np.column_stack([gold, *predicted]).astype(np.int64)
        patterns, self._of_row = _distinct(table, k)
        self.sizes = np.bincount(self._of_row, minlength=len(patterns))
        self.gold = patterns[:, 0]
        """The gold label of each pattern."""
        self._k = k
        self._predicted = patterns[:, 1:].T
        self._group = None if groups is None else group_numbers(groups, len(gold))

    def tallies(self, counts: Floats, model: int) -> Floats:
        """Tallies [..., 3, k] of one model (see `f_scores`) from counts of patterns [..., patterns]."""
        from scipy.sparse import csr_array

        rows, columns = tally_places(self.gold, self._predicted[model], self._k)
        added = csr_array((np.ones(len(rows)), (rows, columns)), shape=(3 * self._k, len(self.gold)))
        flat = added @ counts.reshape(-1, len(self.gold)).T  # [3k, some]
        return np.asarray(flat.T.reshape(*counts.shape[:-1], 3, self._k))

    def resampled(self, draws: int, draw: np.random.Generator) -> Iterator[Floats]:
        """Counts [some, patterns] of `draws` bootstrap samples, in blocks; groups are drawn whole."""
        n = int(self.sizes.sum())
        if self._group is None:
            for size in blocks(draws, len(self.sizes)):
                yield draw.multinomial(n, self.sizes / n, size=size).astype(np.float64)
            return
        for times in times_drawn(int(self._group.max()) + 1, draws, draw):
            yield self.of_groups(times)

    def of_groups(self, times: Codes) -> Floats:
        """Counts of patterns when each group, or row, is there so many times; `times` is [some, groups]."""
        from scipy.sparse import csr_array

        group = np.arange(len(self._of_row)) if self._group is None else self._group
        per_group = csr_array(
            (np.ones(len(group)), (self._of_row, group)), shape=(len(self.sizes), int(group.max()) + 1)
        )  # [patterns, groups]; equal places are summed
        return np.asarray((per_group @ times.T.astype(np.float64)).T)


def _distinct(table: npt.NDArray[np.int64], k: int) -> tuple[npt.NDArray[np.int64], Rows]:
    """The different rows of a table of codes below `k`, and which of them each row is."""
    if k ** table.shape[1] < 2**62:  # one number per row sorts many times faster than a row
        keys = table @ k ** np.arange(table.shape[1], dtype=np.int64)
        first, of_row = np.unique(keys, return_index=True, return_inverse=True)[1:]
        return table[first], of_row.reshape(-1)
    patterns, of_row = np.unique(table, axis=0, return_inverse=True)
    return patterns, of_row.reshape(-1)


def group_numbers(groups: Codes | None, rows: int) -> Rows:
    """The groups counted from 0 on, without gaps; without groups each of so many rows is one."""
    return np.arange(rows) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)


def times_drawn(groups: int, draws: int, draw: np.random.Generator) -> Iterator[Rows]:
    """How often each group is in each of `draws` bootstrap samples [some, groups], in blocks."""
    for size in blocks(draws, groups):
        drawn = draw.integers(groups, size=(size, groups)) + groups * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * groups).reshape(size, groups)


def percentiles(values: Floats) -> tuple[float, float] | None:
    """The middle 95 % of what is known; None when that is not even half."""
    known = values[np.isfinite(values)]
    if len(known) * 2 <= len(values):
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)
