"""How deep a classifier had to think: layers by slice, who needs them, and who pays when there are fewer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.evaluation.bootstrap import DRAWS, group_numbers, percentiles, times_drawn
from unseen.evaluation.measurements import aligned, groups_of_rows, rows_of, share_of
from unseen.seeding import generator
from unseen.types import Dataset, ExitTrace, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Rows

MEAN, SHARE, ERROR, CONFIDENCE = "depth.mean", "depth.share", "depth.error", "depth.confidence"
CHANGED, ACCURACY, USED = "depth.changed", "depth.accuracy", "depth.used"
BUDGETS = (0.25, 0.5, 0.75, 1.0)
"""Shares of all layers that texts may use on average."""
FEWEST = 10
"""Texts of a slice, at least."""


def depth_measurements(
    data: Dataset,
    predictions: Predictions,
    rows: Rows | None = None,
    *,
    slices: Mapping[str, Rows] | None = None,
    trace: ExitTrace | None = None,
    reference: ExitTrace | None = None,
    groups: str | None = None,
    tags: Mapping[str, str | int | float] | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """Layers that answers about `rows` took: on all, right and wrong ones, and on `slices`, places among `rows`.

    Correlations are Spearman's, of depth with being wrong and with the probability of the answer. With a `trace`, the
    answers that stopping early changes, and accuracy at budgets: one threshold for all texts, chosen so that the
    texts of `reference` (by default these very texts) use that share of layers on average. Nothing for predictions
    without depths.
    """
    if predictions.depths is None:
        return []
    asked = rows_of(data, predictions) if rows is None else rows
    ids, gold, probabilities = data.ids.take(pa.array(asked)), data.labels[asked], aligned(data, predictions, asked)
    places = pc.index_in(ids, value_set=predictions.ids.cast(ids.type).combine_chunks()).to_numpy(zero_copy_only=False)
    wrong = probabilities.argmax(axis=1) != gold
    depths = predictions.depths[places.astype(np.intp)].astype(np.float64)
    texts = _DepthOfTexts(depths, wrong, probabilities.max(axis=1), groups_of_rows(data, asked, groups), seed)
    within = {"right": np.flatnonzero(~wrong), "wrong": np.flatnonzero(wrong), **(slices or {})}
    kept = {"all": np.arange(len(asked))} | {name: some for name, some in within.items() if len(some) >= FEWEST}
    layers = trace.layers if trace is not None else int(predictions.depths.max(initial=1))
    measured = [texts.mean(some, name) for name, some in kept.items()]
    measured += [*texts.shares(layers), *texts.correlations()]
    if trace is not None and len(asked):
        codes = np.array([data.label_names.index(name) for name in trace.label_names], np.int16)
        own = replace(trace.of(ids), answers=codes[trace.of(ids).answers], label_names=data.label_names)
        changed = own.at(own.depths()) != own.answers[:, -1]
        measured += [share_of(CHANGED, changed[some], slice=name) for name, some in kept.items()]
        measured += _budgets(own, own if reference is None else reference, kept, gold)
    return [replace(row, tags={**(tags or {}), "layers": layers, **row.tags}) for row in measured]


@dataclass(frozen=True, eq=False)
class _DepthOfTexts:
    """Depth, error and confidence of some texts."""

    depths: Floats
    wrong: np.ndarray[tuple[int], np.dtype[np.bool_]]
    confidence: Floats
    groups: Codes | None
    seed: int

    def mean(self, some: Rows, name: str) -> Measurement:
        """The mean depth of a slice, with a bootstrap interval over texts or groups."""
        depths = self.depths[some]
        if not len(depths):
            return Measurement(MEAN, None, 0, slice=name)
        numbers = group_numbers(None if self.groups is None else self.groups[some], len(some))
        sums, sizes = np.bincount(numbers, depths), np.bincount(numbers)
        drawn = [times @ sums / (times @ sizes) for times in self._times(len(sums))]
        low, high = percentiles(np.concatenate(drawn)) or (None, None)
        return Measurement(MEAN, float(depths.mean()), len(depths), low, high, slice=name)

    def shares(self, layers: int) -> Iterator[Measurement]:
        """The share of texts that stop after each layer."""
        for layer in range(1, layers + 1):
            yield share_of(SHARE, self.depths == layer, {"layer": layer})

    def correlations(self) -> Iterator[Measurement]:
        """Spearman's correlation of depth with error and with confidence; none where one of them is constant."""
        from scipy.stats import rankdata

        depths = rankdata(self.depths)
        for metric, other in ((ERROR, self.wrong), (CONFIDENCE, self.confidence)):
            ranks = rankdata(other)
            value = _correlation(np.ones((1, len(depths))), depths, ranks)[0] if len(depths) else np.nan
            if not np.isfinite(value):
                yield Measurement(metric, None, len(depths))
                continue
            numbers = group_numbers(self.groups, len(depths))
            drawn = [
                _correlation(times[:, numbers].astype(np.float64), depths, ranks)
                for times in self._times(int(numbers.max()) + 1)
            ]
            low, high = percentiles(np.concatenate(drawn)) or (None, None)
            yield Measurement(metric, float(value), len(depths), low, high)

    def _times(self, groups: int) -> Iterator[Rows]:
        return times_drawn(groups, DRAWS, generator(self.seed, "depth"))


def _correlation(times: Floats, first: Floats, second: Floats) -> Floats:
    """Pearson's correlation of two columns, each row counted as often as `times` [draws, rows] says."""
    total = times.sum(axis=1)
    means = [times @ column / total for column in (first, second)]
    product = times @ (first * second) / total - means[0] * means[1]
    spreads = [times @ column**2 / total - mean**2 for column, mean in zip((first, second), means, strict=True)]
    scale = np.sqrt(np.maximum(spreads[0] * spreads[1], 0))
    return np.divide(product, scale, out=np.full(len(total), np.nan), where=scale > 1e-9)


def threshold_for(trace: ExitTrace, budget: float) -> float:
    """The highest threshold at which texts use at most this share of all layers on average.

    Even the first layer alone may be more: then every text stops there.
    """
    levels = np.unique(np.maximum.accumulate(trace.scores, axis=1))
    low, high = -1, len(levels) - 1
    while low < high:  # mean depth does not fall as the threshold rises
        middle = (low + high + 1) // 2
        if trace.depths(float(levels[middle])).mean() <= budget * trace.layers:
            low = middle
        else:
            high = middle - 1
    return float(levels[max(low, 0)])


def _budgets(trace: ExitTrace, reference: ExitTrace, slices: Mapping[str, Rows], gold: Codes) -> Iterator[Measurement]:
    """Accuracy, and layers used, of every slice at every budget; at the budget 1 everything runs."""
    if not len(reference):
        return
    for budget in BUDGETS:
        depths = trace.depths(threshold_for(reference, budget) if budget < 1 else np.inf)
        right = trace.at(depths) == gold
        for name, some in slices.items():
            if name in ("right", "wrong") or not len(some):
                continue
            tags = {"budget": budget}
            yield share_of(ACCURACY, right[some], tags, name)
            yield Measurement(USED, float(depths[some].mean() / trace.layers), len(some), slice=name, tags=tags)
