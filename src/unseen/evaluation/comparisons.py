"""Two models on the same rows: by how much one is better, and how likely chance alone does that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.counting import Patterns, blocks
from unseen.evaluation.intervals import DRAWS, bootstrap, percentiles
from unseen.evaluation.measuring import DEFAULT_METRICS, aligned, checked, places_by_slice, unit_codes
from unseen.evaluation.metrics import Codes, Floats, Metric
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Predictions

ENUMERATED = 12
"""Up to so many units all ways to swap them are tried; with more, ways are drawn."""


def compare(
    data: Dataset,
    a: Predictions,
    b: Predictions,
    rows: npt.NDArray[np.intp],
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    slices: Sequence[str] = (),
    groups: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """`paired_over_examples` for each metric on `rows`, then on each slice of them."""
    return [
        paired_over_examples(
            data, a, b, rows[where], each, groups=groups, slice=name, tags=tags, draws=draws, seed=seed
        )
        for name, where in places_by_slice(data, rows, slices)
        for each in metrics
    ]


def paired_over_examples(
    data: Dataset,
    a: Predictions,
    b: Predictions,
    rows: npt.NDArray[np.intp],
    metric: str = "f1.macro",
    *,
    groups: str | None = None,
    slice: str = "all",
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Measurement:
    """`difference.METRIC`: that of `a` less that of `b` on the same rows, with a 95 % interval and a p-value.

    The interval is a paired bootstrap of the rows, or of whole `groups`. The tag `p` is two-sided, from
    swapping the two models' answers on each row (or group) at random: if neither is better, swaps
    change nothing but by chance. `p.mcnemar` is the exact test of accuracy; it takes rows to be
    independent, so it is left out with groups. All of it is about these two trained models: another
    training seed may differ by more.
    """
    chosen = checked(metric, a)
    checked(metric, b)
    gold, both = data.labels[rows], [aligned(data, each, rows) for each in (a, b)]
    units = None if groups is None else unit_codes(data.attribute(groups))[rows]
    first, second = (chosen(gold, each, data.label_names) for each in both)
    name, tags = f"difference.{chosen.id}", dict(tags or {})
    if first is None or second is None:
        return Measurement(name, None, 0, slice=slice, tags=tags)
    drawn = bootstrap(chosen, gold, both, data.label_names, groups=units, draws=draws, seed=seed)
    low, high = percentiles(drawn[0] - drawn[1]) or (None, None)
    tags["p"] = swap_p_value(chosen, gold, both, data.label_names, groups=units, draws=draws, seed=seed)
    if chosen.id == "accuracy" and units is None:
        tags["p.mcnemar"] = mcnemar(*(each.argmax(axis=1) == gold for each in both))
    return Measurement(name, first - second, len(gold), low, high, slice, tags)


def swap_p_value(
    metric: Metric,
    gold: Codes,
    both: Sequence[Floats],
    label_names: Sequence[str],
    *,
    groups: npt.NDArray[np.integer] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> float:
    """Share of ways to swap the answers of two models that part them at least as far as they are, in size.

    Exact with few rows or groups; otherwise of `draws` random ways and the one observed (Noreen 1989).
    """
    unit = np.arange(len(gold)) if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1)
    units = int(unit.max()) + 1
    compute = _by_counts if metric.of_counts is not None else _by_rows
    swapped = np.concatenate(
        [compute(metric, gold, both, label_names, unit, swaps) for swaps in _swaps(units, draws, seed)]
    )
    nothing = np.zeros((1, units), bool)
    observed = abs(compute(metric, gold, both, label_names, unit, nothing)[0])
    known = np.abs(swapped[np.isfinite(swapped)])
    as_far = int((known >= observed - 1e-12).sum())
    return as_far / len(known) if units <= ENUMERATED else (1 + as_far) / (1 + len(known))


def mcnemar(right_a: npt.NDArray[np.bool_], right_b: npt.NDArray[np.bool_]) -> float:
    """Exact two-sided p-value of the rows that one model gets right and the other wrong."""
    from scipy.stats import binom

    only_a, only_b = int((right_a & ~right_b).sum()), int((right_b & ~right_a).sum())
    return min(1.0, 2 * float(binom.cdf(min(only_a, only_b), only_a + only_b, 0.5)))


def _swaps(units: int, draws: int, seed: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Which units to swap [some, units], in blocks."""
    if units <= ENUMERATED:
        yield (np.arange(2**units)[:, None] >> np.arange(units)) & 1 == 1
        return
    draw = generator(seed, "swaps")
    for size in blocks(draws, units):
        yield draw.random((size, units)) < 0.5


def _by_counts(
    metric: Metric, gold: Codes, both: Sequence[Floats], names: Sequence[str], unit: Codes, swaps: npt.NDArray[np.bool_]
) -> Floats:
    """Differences after each set of swaps, from counts."""
    assert metric.of_counts is not None
    patterns = Patterns(gold, [each.argmax(axis=1) for each in both], len(names), unit)
    moved = patterns.of_units(swaps.astype(np.int64))
    kept = patterns.sizes - moved
    first = patterns.tallies(kept, 0) + patterns.tallies(moved, 1)
    second = patterns.tallies(kept, 1) + patterns.tallies(moved, 0)
    return metric.of_counts(first, names) - metric.of_counts(second, names)


def _by_rows(
    metric: Metric, gold: Codes, both: Sequence[Floats], names: Sequence[str], unit: Codes, swaps: npt.NDArray[np.bool_]
) -> Floats:
    found = []
    for swap in swaps:
        moved = swap[unit][:, None]
        first, second = np.where(moved, both[1], both[0]), np.where(moved, both[0], both[1])
        values = metric(gold, first, names), metric(gold, second, names)
        found.append(np.array(values, dtype=np.float64))  # None becomes NaN
    table = np.array(found)
    return np.asarray(table[:, 0] - table[:, 1])
