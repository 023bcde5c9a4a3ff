"""Any metric of any groups as one table; differences and ratios are reductions of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, times_drawn
from unseen.evaluation.f_scores import tally_places
from unseen.evaluation.intervals import Bounds
from unseen.evaluation.measurements import aligned, checked
from unseen.evaluation.metrics import Metric
from unseen.seeding import generator
from unseen.subgroups.bounds import bounds, chance, exact_bounds, refusal, stuck
from unseen.subgroups.groups import Groups, drawn_together
from unseen.subgroups.positives import RATE_OF, RATES, binary
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows

AT_ONCE = 2_000_000
"""Numbers held at a time while resampling."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """What one metric is computed from, on the rows in question."""

    metric: Metric
    gold: Codes
    probabilities: Floats
    names: Sequence[str]

    @classmethod
    def of(cls, data: Dataset, predictions: Predictions, rows: Rows, name: str, positive: Sequence[str]) -> _Problem:
        """The problem of a metric, or of a rate of the `positive` labels."""
        if name not in RATES:
            metric = checked(name, predictions)
            return cls(metric, data.labels[rows], aligned(data, predictions, rows), data.label_names)
        gold, scores = binary(data, predictions, rows, positive)
        return cls(RATES[name], gold.astype(np.int64), np.column_stack([1 - scores, scores]), ("rest", "positive"))

    def value(self, rows: Rows) -> float | None:
        """The metric of these rows."""
        return self.metric(self.gold[rows], self.probabilities[rows], self.names)

    def behind(self, rows: Rows) -> Rows:
        """Those of these rows that the metric is about."""
        label = RATE_OF.get(self.metric.id)
        return rows if label is None else rows[self.gold[rows] == label]

    def drawn(self, rows: Rows) -> Callable[[Codes], Floats]:
        """The metric of these rows when each is there so many times [draws, rows]; NaN where there is no value."""
        if not len(rows):
            return lambda times: np.full(len(times), np.nan)
        assert self.metric.of_weights is not None
        of_weights = self.metric.of_weights(self.gold[rows], self.probabilities[rows], self.names)
        return lambda times: of_weights(times.astype(np.float64))


def group_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    rows: Rows,
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
    values lie apart even where all groups are equal: the tag `by_chance` is by how much they then would,
    where every group has ten texts (or `units`).
    `metrics` are ids of `unseen.evaluation`, or a rate of the `positive` labels: false_positive_rate,
    false_negative_rate, positive_rate; their `n` is the rows that they are a share of. Where all resamples of a
    set are the same there is no interval, but for a rate of 0 or 1, which has the exact one; nor where a set has fewer
    than ten texts (or `units`), and the tag `few_texts` says so.
    """
    if not metrics:
        raise InputError("no metric is named", expected=f"an id of unseen.evaluation, or one of {', '.join(RATES)}")
    if positive and not set(metrics) & set(RATES):
        raise InputError(
            "positive labels have no effect on these metrics", fix=f"leave them out, or ask for {', '.join(RATES)}"
        )
    members = groups.of_rows(data, rows)
    unit = drawn_together(data, rows, units)
    tags = {**(tags or {}), "grouping": groups.grouping}
    sets = [np.arange(len(rows))]
    sets += [np.flatnonzero(column == inside) for inside in (True, False) for column in members.T]
    measurements = []
    for name in metrics:
        problem = _Problem.of(data, predictions, rows, name, positive)
        values = np.array([problem.value(own) for own in sets], dtype=np.float64)  # None becomes NaN
        drawn = _resampled(problem, members, sets, unit, draws, seed)
        behind = [unit[problem.behind(own)] for own in sets]
        measurements += _of_sets(name, groups, behind, values, drawn, tags)
        measurements += _reductions(name, groups, int(members.any(axis=1).sum()), behind, values, drawn, tags)
    return measurements


def _resampled(problem: _Problem, members: Mask, sets: Sequence[Rows], unit: Rows, draws: int, seed: int) -> Floats:
    """The metric of every set of rows in the same bootstrap samples [sets, draws]."""
    if not len(unit):
        return np.empty((len(sets), 0))
    blocks = times_drawn(int(unit.max()) + 1, draws, generator(seed, "bootstrap"))
    if problem.metric.of_counts is not None:
        cells = _cells(problem, members, unit)
        return np.concatenate([_of_counts(problem, cells, times) for times in blocks], axis=1)
    size = max(1, AT_ONCE // len(unit))
    pieces = (times[start : start + size] for times in blocks for start in range(0, len(times), size))
    drawn = [(own, problem.drawn(own)) for own in sets]
    return np.concatenate([[of_set(times[:, unit[own]]) for own, of_set in drawn] for times in pieces], axis=1)


def _cells(problem: _Problem, members: Mask, unit: Rows) -> Any:
    """How much each unit adds to the tallies of all and of each group [cells, units]."""
    from scipy.sparse import csr_array

    k = len(problem.names)
    places, row = tally_places(problem.gold, problem.probabilities.argmax(axis=1), k)
    entry, group = np.nonzero(np.column_stack([np.ones(len(unit), bool), members])[row])
    shape = (3 * k * (members.shape[1] + 1), int(unit.max()) + 1)
    return csr_array((np.ones(len(entry)), (group * 3 * k + places[entry], unit[row[entry]])), shape=shape)


def _of_counts(problem: _Problem, cells: Any, times: Codes) -> Floats:
    assert problem.metric.of_counts is not None
    counts = np.asarray(cells @ times.T.astype(np.float64)).T.reshape(len(times), -1, 3, len(problem.names))
    everybody, groups = counts[:, :1], counts[:, 1:]
    tallies = np.concatenate([everybody, groups, everybody - groups], axis=1)
    return problem.metric.of_counts(tallies, problem.names).T


def _of_sets(
    name: str, groups: Groups, behind: Sequence[Rows], values: Floats, drawn: Floats, tags: Mapping[str, Any]
) -> list[Measurement]:
    """The metric of each set and the differences; `behind` are the units of the rows that count in each set."""
    rest = [f"{groups.grouping}!={group}" for group in groups.names]
    texts = [len(np.unique(own)) for own in behind]
    measurements = []
    for place, slice_ in enumerate(["all", *groups.slices, *rest]):
        exact = exact_bounds(values[place], behind[place]) if name in RATES else None
        interval = exact or bounds(drawn[place], texts[place])
        measurements.append(_measured(name, values[place], len(behind[place]), interval, slice_, tags, texts[place]))
    for own, slice_ in enumerate(groups.slices, 1):
        other = own + len(groups.names)
        fewest, n = min(texts[own], texts[other]), len(behind[own]) + len(behind[other])
        alike = stuck(drawn[own]) or stuck(drawn[other])
        interval = (None, None) if alike else bounds(drawn[own] - drawn[other], fewest)
        difference = values[own] - values[other]
        measurements.append(_measured(f"group_difference.{name}", difference, n, interval, slice_, tags, fewest))
    return measurements


def _measured(
    name: str, value: float, n: int, interval: Bounds, slice_: str, tags: Mapping[str, Any], texts: int
) -> Measurement:
    own_tags = {**tags, **refusal(interval, texts)}
    if not np.isfinite(value):
        own_tags["undefined"] = "these rows cannot give a value"
        return Measurement(name, None, n, slice=slice_, tags=own_tags)
    return Measurement(name, float(value), n, *interval, slice_, own_tags)


def _reductions(
    name: str, groups: Groups, n: int, behind: Sequence[Rows], values: Floats, drawn: Floats, tags: Mapping[str, Any]
) -> list[Measurement]:
    """Highest less lowest and lowest through highest of the groups that have a value."""
    k = len(groups.names)
    known = np.flatnonzero(np.isfinite(values[1 : k + 1]))
    own_tags: dict[str, Any] = {**tags, "groups": f"{len(known)} of {k}"}
    if len(known) < 2:
        own_tags["undefined"] = "fewer than two groups have a value"
        reductions = ("largest_difference", "smallest_ratio")
        return [Measurement(f"{reduction}.{name}", None, n, tags=own_tags) for reduction in reductions]
    scores, noise = values[1 + known], drawn[1 + known] - values[1 + known, None]
    lowest, highest = known[scores.argmin()], known[scores.argmax()]
    own_tags |= {"lowest": groups.names[lowest], "highest": groups.names[highest]}
    ratio = float(scores.min() / scores.max()) if scores.max() > 0 and scores.min() >= 0 else None
    noise = noise[:, np.isfinite(noise).all(axis=0)]
    fewest = min(len(np.unique(behind[1 + int(own)])) for own in known)
    by_chance = chance(float(np.median(np.ptp(noise, axis=0))) if noise.size else np.nan, fewest)
    reason = {} if ratio is not None else {"undefined": "a ratio needs values above zero"}
    return [
        Measurement(f"largest_difference.{name}", float(np.ptp(scores)), n, tags={**own_tags, **by_chance}),
        Measurement(f"smallest_ratio.{name}", ratio, n, tags={**own_tags, **reason}),
    ]
