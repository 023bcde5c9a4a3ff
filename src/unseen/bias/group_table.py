"""Any metric of any groups as one table; differences and ratios are reductions of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.bias.binary import binary
from unseen.bias.bounds import Bounds, bounds, exact_bounds, refusal, stuck
from unseen.bias.error_rates import RATES, counted_rows
from unseen.bias.groups import Groups, Mask, drawn_together
from unseen.errors import InputError
from unseen.evaluation.counting import times_drawn
from unseen.evaluation.f_scores import tally_places
from unseen.evaluation.intervals import DRAWS
from unseen.evaluation.measuring import aligned, checked
from unseen.evaluation.metrics import Codes, Floats, Metric
from unseen.seeding import generator
from unseen.types import Dataset, Measurement, Predictions

AT_ONCE = 2_000_000
"""Numbers held at a time while resampling."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """What one metric is computed from, on the rows in question."""

    metric: Metric
    gold: Codes
    probabilities: Floats
    names: Sequence[str]

    def value(self, rows: Codes) -> float | None:
        """The metric of these rows."""
        return self.metric(self.gold[rows], self.probabilities[rows], self.names)

    def behind(self, rows: Codes) -> Codes:
        """Those of these rows that the metric is about."""
        return rows[counted_rows(self.metric.id, self.gold[rows])] if self.metric.id in RATES else rows

    def drawn(self, rows: Codes) -> Callable[[npt.NDArray[np.intp]], Floats]:
        """The metric of these rows when each is there so many times [draws, rows]; NaN where there is no value."""
        if len(rows) and self.metric.of_weights is not None:
            of_weights = self.metric.of_weights(self.gold[rows], self.probabilities[rows], self.names)
            return lambda times: of_weights(times.astype(np.float64))
        return lambda times: np.array([self.value(np.repeat(rows, each)) for each in times], dtype=np.float64)


def group_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    rows: npt.NDArray[np.intp],
    metrics: Sequence[str],
    *,
    positive: Sequence[str] = (),
    units: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """Each metric on all rows, on each group and on the rest, with differences and ratios and 95 % intervals.

    METRIC has the slices `all`, `GROUPING=NAME` and `GROUPING!=NAME` (the rest); `group_difference.METRIC` is the
    group's less the rest's. `largest_difference.METRIC` and `smallest_ratio.METRIC` are over the groups that have a
    value: highest less lowest, lowest through highest. These two have no interval, because the extremes of noisy
    values lie apart even where all groups are equal: the tag `by_chance` is by how much they then would.
    `metrics` are ids of `unseen.evaluation`, or a rate of the `positive` labels: false_positive_rate,
    false_negative_rate, positive_rate; their `n` is the rows that they are a share of. Where all resamples of a
    set are the same there is no interval, but for a rate of 0 or 1, which has the exact one; nor where a set has fewer
    than ten texts (or `units`), and the tag `few_texts` says so.
    """
    _refuse_useless(metrics, positive)
    members = groups.of_rows(data, rows)
    unit = drawn_together(data, rows, units)
    tags = {**(tags or {}), "grouping": groups.grouping}
    sets = [np.arange(len(rows))]
    sets += [np.flatnonzero(column == inside) for inside in (True, False) for column in members.T]
    found = []
    for name in metrics:
        problem = _problem(data, predictions, rows, name, positive)
        value = np.array([problem.value(each) for each in sets], dtype=np.float64)  # None becomes NaN
        drawn = _resampled(problem, members, sets, unit, draws, seed)
        found += _of_sets(name, groups, [unit[problem.behind(each)] for each in sets], value, drawn, tags)
        found += _reductions(name, groups, int(members.any(axis=1).sum()), value, drawn, tags)
    return found


def _refuse_useless(metrics: Sequence[str], positive: Sequence[str]) -> None:
    if not metrics:
        raise InputError("no metric is named", expected=f"an id of unseen.evaluation, or one of {', '.join(RATES)}")
    if positive and not set(metrics) & set(RATES):
        raise InputError(
            "positive labels have no effect on these metrics", fix=f"leave them out, or ask for {', '.join(RATES)}"
        )


def _problem(
    data: Dataset, predictions: Predictions, rows: npt.NDArray[np.intp], name: str, positive: Sequence[str]
) -> _Problem:
    if name not in RATES:
        metric = checked(name, predictions)
        return _Problem(metric, data.labels[rows], aligned(data, predictions, rows), data.label_names)
    gold, scores = binary(data, predictions, rows, positive)
    return _Problem(RATES[name], gold.astype(np.int64), np.column_stack([1 - scores, scores]), ("rest", "positive"))


def _resampled(problem: _Problem, members: Mask, sets: Sequence[Codes], unit: Codes, draws: int, seed: int) -> Floats:
    """The metric of every set of rows in the same bootstrap samples [sets, draws]."""
    if not len(unit):
        return np.empty((len(sets), 0))
    blocks = times_drawn(int(unit.max()) + 1, draws, generator(seed, "bootstrap"))
    if problem.metric.of_counts is not None:
        cells = _cells(problem, members, unit)
        return np.concatenate([_of_counts(problem, cells, times) for times in blocks], axis=1)
    size = max(1, AT_ONCE // len(unit))
    pieces = (times[start : start + size] for times in blocks for start in range(0, len(times), size))
    drawn = [problem.drawn(each) for each in sets]
    return np.concatenate(
        [[value(times[:, unit[each]]) for value, each in zip(drawn, sets, strict=True)] for times in pieces], axis=1
    )


def _cells(problem: _Problem, members: Mask, unit: Codes) -> Any:
    """How much each unit adds to the tallies of all and of each group [cells, units]."""
    from scipy.sparse import csr_array

    k = len(problem.names)
    places, row = tally_places(problem.gold, problem.probabilities.argmax(axis=1), k)
    entry, group = np.nonzero(np.column_stack([np.ones(len(unit), bool), members])[row])
    shape = (3 * k * (members.shape[1] + 1), int(unit.max()) + 1)
    return csr_array((np.ones(len(entry)), (group * 3 * k + places[entry], unit[row[entry]])), shape=shape)


def _of_counts(problem: _Problem, cells: Any, times: npt.NDArray[np.intp]) -> Floats:
    assert problem.metric.of_counts is not None
    k = len(problem.names)
    counts = np.asarray(cells @ times.T.astype(np.float64)).T.reshape(len(times), -1, 3, k)
    everybody, groups = counts[:, :1], counts[:, 1:]
    tallies = np.concatenate([everybody, groups, everybody - groups], axis=1)
    return problem.metric.of_counts(tallies, problem.names).T


def _of_sets(
    name: str, groups: Groups, behind: Sequence[Codes], value: Floats, drawn: Floats, tags: Mapping[str, Any]
) -> list[Measurement]:
    """The metric of each set and the differences; `behind` are the units of the rows that count in each set."""
    rest = [f"{groups.grouping}!={each}" for each in groups.names]
    slices, k = ["all", *groups.slices, *rest], len(groups.names)
    exact = [exact_bounds(*each) if name in RATES else None for each in zip(value, behind, strict=True)]
    texts = [len(np.unique(each)) for each in behind]
    around = [one or bounds(*each) for one, *each in zip(exact, drawn, texts, strict=True)]
    found = [
        _measured(name, one, len(rows), each, slice, {**tags, **refusal(each, few)})
        for one, rows, each, few, slice in zip(value, behind, around, texts, slices, strict=True)
    ]
    for group, slice in enumerate(groups.slices):
        mine, other = 1 + group, 1 + k + group
        alike = stuck(drawn[mine]) or stuck(drawn[other])
        few = min(texts[mine], texts[other])
        each = (None, None) if alike else bounds(drawn[mine] - drawn[other], few)
        n, said = len(behind[mine]) + len(behind[other]), {**tags, **refusal(each, few)}
        found.append(_measured(f"group_difference.{name}", value[mine] - value[other], n, each, slice, said))
    return found


def _measured(name: str, value: float, n: int, around: Bounds, slice: str, tags: Mapping[str, Any]) -> Measurement:
    if not np.isfinite(value):
        return Measurement(name, None, n, slice=slice, tags={**tags, "undefined": "these rows cannot give a value"})
    return Measurement(name, float(value), n, *around, slice, dict(tags))


def _reductions(
    name: str, groups: Groups, n: int, value: Floats, drawn: Floats, tags: Mapping[str, Any]
) -> list[Measurement]:
    k = len(groups.names)
    known = np.flatnonzero(np.isfinite(value[1 : k + 1]))
    said: dict[str, Any] = {**tags, "groups": f"{len(known)} of {k}"}
    if len(known) < 2:
        said["undefined"] = "fewer than two groups have a value"
        return [Measurement(f"{each}.{name}", None, n, tags=said) for each in ("largest_difference", "smallest_ratio")]
    mine, noise = value[1 + known], drawn[1 + known] - value[1 + known, None]
    lowest, highest = known[mine.argmin()], known[mine.argmax()]
    said |= {"lowest": groups.names[lowest], "highest": groups.names[highest]}
    ratio = float(mine.min() / mine.max()) if mine.max() > 0 and mine.min() >= 0 else None
    noise = noise[:, np.isfinite(noise).all(axis=0)]
    chance = {"by_chance": float(np.median(np.ptp(noise, axis=0)))} if noise.size else {}
    reason = {} if ratio is not None else {"undefined": "a ratio needs values above zero"}
    return [
        Measurement(f"largest_difference.{name}", float(np.ptp(mine)), n, tags={**said, **chance}),
        Measurement(f"smallest_ratio.{name}", ratio, n, tags={**said, **reason}),
    ]
