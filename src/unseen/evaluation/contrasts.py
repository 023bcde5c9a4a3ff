"""Two models on the same rows: by how much one is better, and how likely chance alone does that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.bootstrap import DRAWS, Patterns, bootstrap, group_numbers, percentiles
from unseen.evaluation.measurements import DEFAULT_METRICS, aligned, checked, groups_of_rows, places_by_slice
from unseen.evaluation.metrics import Metric
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows, blocks

ENUMERATED = 12
"""Up to so many groups all ways to swap them are tried; with more, ways are drawn."""


def compare(
    data: Dataset,
    a: Predictions,
    b: Predictions,
    rows: Rows,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    slices: Sequence[str] = (),
    groups: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """`paired_over_rows` for each metric on `rows`, then on each slice of them."""
    return [
        paired_over_rows(data, a, b, rows[places], name, groups=groups, slice=slice_, tags=tags, draws=draws, seed=seed)
        for slice_, places in places_by_slice(data, rows, slices)
        for name in metrics
    ]


def paired_over_rows(
    data: Dataset,
    a: Predictions,
    b: Predictions,
    rows: Rows,
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
    swapping the two models' predictions on each row (or group) at random: if neither is better, swaps
    change nothing but by chance. `p.mcnemar` is the exact test of accuracy; it takes rows to be
    independent, so it is left out with groups. All of it is about these two trained models: another
    training seed may differ by more.
    """
    chosen = checked(metric, a)
    checked(metric, b)
    gold, both = data.labels[rows], [aligned(data, model, rows) for model in (a, b)]
    group = groups_of_rows(data, rows, groups)
    score_a, score_b = (chosen(gold, model, data.label_names) for model in both)
    name, tags = f"difference.{chosen.id}", dict(tags or {})
    if score_a is None or score_b is None:
        return Measurement(name, None, 0, slice=slice, tags=tags)
    drawn = bootstrap(chosen, gold, both, data.label_names, groups=group, draws=draws, seed=seed)
    low, high = percentiles(drawn[0] - drawn[1]) or (None, None)
    tags["p"] = swap_p_value(chosen, gold, both, data.label_names, groups=group, draws=draws, seed=seed)
    if chosen.id == "accuracy" and group is None:
        tags["p.mcnemar"] = mcnemar(*(model.argmax(axis=1) == gold for model in both))
    return Measurement(name, score_a - score_b, len(gold), low, high, slice, tags)


def swap_p_value(
    metric: Metric,
    gold: Codes,
    both: Sequence[Floats],
    label_names: Sequence[str],
    *,
    groups: Codes | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> float:
    """Share of ways to swap the predictions of two models that part them at least as far as they are, in size.

    Exact with few rows or groups; otherwise of `draws` random ways and the one observed (Noreen 1989).
    """
    group = group_numbers(groups, len(gold))
    number = int(group.max()) + 1
    by_swaps = _difference_by_swaps(metric, gold, both, label_names, group)
    swapped = np.concatenate([by_swaps(swaps) for swaps in drawn_swaps(number, draws, seed)])
    observed = abs(by_swaps(np.zeros((1, number), bool))[0])
    known = np.abs(swapped[np.isfinite(swapped)])
    as_far = int((known >= observed - 1e-12).sum())
    return as_far / len(known) if number <= ENUMERATED else (1 + as_far) / (1 + len(known))


def mcnemar(right_a: npt.NDArray[np.bool_], right_b: npt.NDArray[np.bool_]) -> float:
    """Exact two-sided p-value of the rows that one model gets right and the other wrong."""
    from scipy.stats import binomtest

    only_a, differing = int((right_a & ~right_b).sum()), int((right_a != right_b).sum())
    return float(binomtest(only_a, differing).pvalue) if differing else 1.0


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that rejecting those below .05 errs at all with a probability of at most .05.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = steps
    return [float(p_value) for p_value in adjusted]


def with_holm(
    rows: Sequence[Measurement], test: str = "p", family: Callable[[Measurement], object] = lambda _: None
) -> list[Measurement]:
    """The rows with the tag `TEST.holm`: `test` adjusted for all rows of a family that have it; others as they are."""
    families: dict[object, list[float]] = {}
    for row in rows:
        if test in row.tags:
            families.setdefault(family(row), []).append(float(row.tags[test]))
    adjusted = {name: iter(holm(p_values)) for name, p_values in families.items()}
    return [
        replace(row, tags={**row.tags, f"{test}.holm": next(adjusted[family(row)])}) if test in row.tags else row
        for row in rows
    ]


def drawn_swaps(groups: int, draws: int, seed: int) -> Iterator[Mask]:
    """Which groups to swap [some, groups], in blocks."""
    if groups <= ENUMERATED:
        yield (np.arange(2**groups)[:, None] >> np.arange(groups)) & 1 == 1
        return
    draw = generator(seed, "swaps")
    for size in blocks(draws, groups):
        yield draw.random((size, groups)) < 0.5


def _difference_by_swaps(
    metric: Metric, gold: Codes, both: Sequence[Floats], names: Sequence[str], group: Codes
) -> Callable[[Mask], Floats]:
    """A function of sets of swaps [some, groups] that gives the difference of the two models after each of them."""
    of_counts = metric.of_counts
    if of_counts is None:

        def by_rows(swaps: Mask) -> Floats:
            scores = []
            for swap in swaps:
                moved = swap[group][:, None]
                first, second = np.where(moved, both[1], both[0]), np.where(moved, both[0], both[1])
                scores.append((metric(gold, first, names), metric(gold, second, names)))
            table = np.array(scores, dtype=np.float64)  # None becomes NaN
            return np.asarray(table[:, 0] - table[:, 1])

        return by_rows
    patterns = Patterns(gold, [model.argmax(axis=1) for model in both], len(names), group)

    def by_counts(swaps: Mask) -> Floats:
        moved = patterns.of_groups(swaps.astype(np.int64))
        kept = patterns.sizes - moved
        first = patterns.tallies(kept, 0) + patterns.tallies(moved, 1)
        second = patterns.tallies(kept, 1) + patterns.tallies(moved, 0)
        return of_counts(first, names) - of_counts(second, names)

    return by_counts
