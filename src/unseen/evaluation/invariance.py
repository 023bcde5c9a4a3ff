"""Does a property of texts survive a transformation? What classifiers say before and after, against the gold labels.

A property is invariant when every text has the same one before and after (Bianchi, Nozza and Hovy 2022). They compare
distributions; here stand flips of single texts beside them, a floor of flips that mean nothing, paired tests and
intervals over texts, or over whole groups of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from unseen.evaluation.bootstrap import DRAWS, group_numbers, percentiles, times_drawn
from unseen.evaluation.contrasts import mcnemar
from unseen.evaluation.homogeneity import bhapkar, chi_square, kl_divergence, stuart_maxwell, transition_table
from unseen.evaluation.intervals import apart, effective_groups, spread_of, widened, within
from unseen.evaluation.metrics import metric
from unseen.seeding import generator
from unseen.types import Measurement
from unseen.types.arrays import Codes, Floats, Mask

SIDES = ("original", "transformed")
IDENTITY, RETRAINED = "identity", "retrained"
MARGIN = 0.05
"""How far the macro F1 of two classifiers, on texts they did not learn from, may differ."""
BIASED, CLASSIFIER, NOTHING, OPEN = "transformation bias", "classifier bias", "no bias shown", "undecidable"
"""What can be said of the distributions."""
Shares = Callable[["Means"], Floats]


class Means(NamedTuple):
    """Means over the texts of a sample, or of many samples [..., labels] and [...]."""

    gold: Floats
    original: Floats
    transformed: Floats
    soft_original: Floats
    soft_transformed: Floats
    left: Floats
    """Share of texts that had each label and have another."""
    flips: Floats
    """Of the transformation, then of every floor [..., 1 + floors]."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a classifier says about texts of its own kind that it did not learn from."""

    gold: Codes
    probabilities: Floats

    def expected(self, gold: Codes) -> Floats:
        """The shares of labels that it would give to texts of this gold mix if it erred on them as on its own."""
        labels = self.probabilities.shape[1]
        table = transition_table(self.gold, self.probabilities.argmax(axis=1), labels)
        shares = np.bincount(gold, minlength=labels) / len(gold)
        return np.asarray(shares @ (table / np.maximum(1, table.sum(axis=1, keepdims=True))))


@dataclass(frozen=True, eq=False)
class AnsweredPairs:
    """Texts with their gold property, and what classifiers say about them before and after a transformation."""

    gold: Codes
    original: Floats
    transformed: Floats
    label_names: tuple[str, ...]
    floors: Mapping[str, Floats]
    """By name: how often the answer to each text flips where nothing should flip it, from 0 to 1."""
    changed: Mask
    """Texts that the transformation did not leave as they were."""
    retrained: Sequence[tuple[Floats, Floats]] = ()
    """Answers before and after, of classifiers that were trained again."""
    held_out: Mapping[str, HeldOut] = field(default_factory=dict)
    """By side: of two classifiers each, of one both the same."""
    two: bool = False
    """Whether one classifier answers about the originals and another about what became of them."""
    groups: Codes | None = None

    @cached_property
    def predicted(self) -> tuple[Codes, Codes]:
        """The label of each text before and after."""
        return self.original.argmax(axis=1), self.transformed.argmax(axis=1)

    @cached_property
    def flips(self) -> Mask:
        """Texts whose answer is another one afterwards."""
        return np.asarray(self.predicted[0] != self.predicted[1])

    @cached_property
    def transitions(self) -> Any:
        """Counts [before, after]."""
        return transition_table(*self.predicted, len(self.label_names))

    @cached_property
    def highest_floor(self) -> str:
        """The floor with the most flips."""
        return max(self.floors, key=lambda name: float(self.floors[name].mean()))

    @property
    def flips_if_independent(self) -> float:
        """The flip rate of answers that have nothing in common but what the gold label tells of each."""
        rate = 0.0
        for label in np.unique(self.gold):
            rows = self.gold == label
            before, after = (np.bincount(side[rows], minlength=len(self.label_names)) for side in self.predicted)
            rate += rows.mean() * (1 - float(before @ after) / rows.sum() ** 2)
        return float(rate)

    def _columns(self) -> Floats:
        """Per text [texts, columns]: one, then what `Means` are the means of."""
        labels = np.eye(len(self.label_names))
        before, after = (labels[side] for side in self.predicted)
        flips = self.flips[:, None].astype(np.float64)
        floors = [values[:, None] for values in self.floors.values()]
        parts = [labels[self.gold], before, after, self.original, self.transformed, before * flips, flips, *floors]
        return np.hstack([np.ones((len(self.gold), 1)), *parts])

    def _means(self, sums: Floats) -> Means:
        k = len(self.label_names)
        means = sums[..., 1:] / sums[..., :1]
        return Means._make([*(means[..., part * k : (part + 1) * k] for part in range(6)), means[..., 6 * k :]])

    def measurements(self, tags: Mapping[str, Any], *, draws: int = DRAWS, seed: int = 42) -> list[Measurement]:
        """Every number of one transformation; intervals draw texts, or whole groups."""
        rows, group = self._columns(), group_numbers(self.groups, len(self.gold))
        of_groups = np.zeros((int(group.max()) + 1, rows.shape[1]))
        np.add.at(of_groups, group, rows)
        sampled = times_drawn(len(of_groups), draws, generator(seed, "invariance"))
        drawn = self._means(np.concatenate([times @ of_groups for times in sampled]))
        sample = _Sample(self._means(rows.sum(axis=0)), drawn, effective_groups(self.gold, self.groups), len(self.gold))
        return [*self._distributions(sample, tags), *self._distances(sample, tags), *self._flip_rates(sample, tags)]

    def _distributions(self, sample: _Sample, tags: Mapping[str, Any]) -> Iterator[Measurement]:
        for place, name in enumerate(self.label_names):
            for side in ("gold", *SIDES):
                yield sample.share(f"share[{name}]", _of(side, place), {**tags, "side": side})
            for side in SIDES:
                yield sample.share(f"soft_share[{name}]", _of(f"soft_{side}", place), {**tags, "side": side})
                yield sample.difference(f"skew[{name}]", _gap(side, "gold", place), {**tags, "side": side})
            yield sample.difference(f"difference.skew[{name}]", _gap("transformed", "original", place), tags)
            soft = _gap("soft_transformed", "soft_original", place)
            yield sample.difference(f"difference.soft_skew[{name}]", soft, tags)
            for number, (before, after) in enumerate(self.retrained):
                shift = float((after.argmax(axis=1) == place).mean() - (before.argmax(axis=1) == place).mean())
                yield Measurement(f"difference.skew[{name}]", shift, sample.n, tags={**tags, "seed": number + 1})

    def _distances(self, sample: _Sample, tags: Mapping[str, Any]) -> Iterator[Measurement]:
        for soft in ("", "soft_"):
            before, after = (f"{soft}{side}" for side in SIDES)
            for side in SIDES:
                tests = {} if soft else self._tests(self.gold, self.predicted[SIDES.index(side)])
                yield sample.distance(f"{soft}kl.gold", "gold", f"{soft}{side}", {**tags, "side": side, **tests})
            to_before, to_after = sample.kl("gold", before), sample.kl("gold", after)
            yield sample.between(f"difference.{soft}kl.gold", _less(to_after, to_before), tags)
            tests = {} if soft else self._tests(*self.predicted)
            yield sample.distance(f"{soft}kl.answers", before, after, {**tags, **tests})
        moved = np.abs(self.original - self.transformed).sum(axis=1) / 2
        yield Measurement("probability_moved", float(moved.mean()), sample.n, tags=tags)

    def _tests(self, first: Codes, second: Codes) -> dict[str, float]:
        """p-values that two labels of each text have one distribution; none where texts come in groups."""
        if self.groups is not None:
            return {}
        table = transition_table(first, second, len(self.label_names))
        tests = {"p.chi2": chi_square(table.sum(axis=1), table.sum(axis=0))}
        if len(self.label_names) == 2:
            return tests | {"p.mcnemar": mcnemar(first == 0, second == 0)}
        return tests | {"p.stuart_maxwell": stuart_maxwell(table), "p.bhapkar": bhapkar(table)}

    def _flip_rates(self, sample: _Sample, tags: Mapping[str, Any]) -> Iterator[Measurement]:
        yield sample.share("flip_rate", _flips(0), tags)
        changed = int(self.changed.sum())
        rate = float(self.flips[self.changed].mean()) if changed else None
        yield Measurement("flip_rate", rate, changed, slice="changed", tags=tags)
        for place, name in enumerate(self.label_names):
            count = int((self.predicted[0] == place).sum())
            share = float(self.flips[self.predicted[0] == place].mean()) if count else None
            yield Measurement("flip_rate", share, count, slice=f"from={name}", tags=tags)
            for other, after in enumerate(self.label_names):
                value = float(self.transitions[place, other] / sample.n)
                yield Measurement("transition", value, sample.n, slice=f"from={name} & to={after}", tags=tags)
        yield Measurement("flip_rate.independent", self.flips_if_independent, sample.n, tags=tags)
        for number, name in enumerate(self.floors, start=1):
            yield sample.share("flip_rate.floor", _flips(number), {**tags, "floor": name})
        highest = 1 + list(self.floors).index(self.highest_floor)
        above = _less(_flips(0), _flips(highest))
        yield sample.difference("difference.flip_rate", above, {**tags, "than": self.highest_floor})


class _Sample(NamedTuple):
    """Means of the texts and of samples drawn from them: what every number and its interval is made of."""

    means: Means
    drawn: Means
    worth: float
    """Texts, or what the groups are worth."""
    n: int

    def share(self, metric: str, of: Shares, tags: Mapping[str, Any]) -> Measurement:
        """A share with its interval."""
        value, spread = float(of(self.means)), spread_of(of(self.drawn), self.worth)
        ends = (None, None) if spread is None else within(value, spread, 0.0, 1.0)
        return Measurement(metric, value, self.n, *ends, tags={**tags, **(spread.tags if spread else {})})

    def difference(self, metric: str, of: Shares, tags: Mapping[str, Any]) -> Measurement:
        """A difference of two shares with its interval, by Student's t, and what widens it where one is picked."""
        value, spread = float(of(self.means)), spread_of(of(self.drawn), self.worth)
        if spread is None:
            return Measurement(metric, value, self.n, tags=tags)
        about = {"standard_error": spread.standard_error, "df": spread.df, **spread.tags}
        return Measurement(metric, value, self.n, *apart(value, spread, 1.0), tags={**tags, **about})

    def between(self, metric: str, of: Shares, tags: Mapping[str, Any]) -> Measurement:
        """A difference of two distances with its interval by percentiles."""
        return Measurement(metric, float(of(self.means)), self.n, *self._percentiles(of), tags=tags)

    def distance(self, metric: str, part: str, other: str, tags: Mapping[str, Any]) -> Measurement:
        """The divergence of two distributions with its interval by percentiles.

        Samples are always apart, however equal what they are drawn from: the interval begins at 0 where the shares of
        no label are told apart.
        """
        of = self.kl(part, other)
        value, (low, high) = float(of(self.means)), self._percentiles(of)
        if low is None or high is None:
            return Measurement(metric, value, self.n, tags=tags)
        gaps = [self.difference("", _gap(part, other, place), {}) for place in range(self.means.gold.shape[-1])]
        low = 0.0 if all(_holds(row, 0.0) for row in gaps) else min(value, low)
        return Measurement(metric, value, self.n, low, max(value, high), tags=tags)

    def kl(self, part: str, other: str) -> Shares:
        """The divergence of two distributions; what is smoothed are counts, as published."""
        return lambda means: kl_divergence(self.n * getattr(means, part), self.n * getattr(means, other))

    def _percentiles(self, of: Shares) -> tuple[float | None, float | None]:
        return percentiles(of(self.drawn)) or (None, None)


def _of(part: str, place: int) -> Shares:
    return lambda means: getattr(means, part)[..., place]  # type: ignore[no-any-return]


def _gap(part: str, other: str, place: int) -> Shares:
    return lambda means: getattr(means, part)[..., place] - getattr(means, other)[..., place]  # type: ignore[no-any-return]


def _flips(number: int) -> Shares:
    return lambda means: means.flips[..., number]


def _less(first: Shares, second: Shares) -> Shares:
    return lambda means: first(means) - second(means)


def _holds(row: Measurement, value: float) -> bool:
    """Whether the interval of a row holds a value; of a row without one, whether it is the value."""
    if row.low is None or row.high is None:
        return row.value == value
    return row.low <= value <= row.high


# -- what can be said --------------------------------------------------------------------------------------------------


class BiasVerdict(NamedTuple):
    """What can be said of the distributions before and after, and why."""

    kind: str
    why: str
    labels: tuple[str, ...] = ()
    """Those whose share moved."""


def outcome(pairs: AnsweredPairs, rows: Sequence[Measurement], margin: float = MARGIN) -> BiasVerdict:
    """Which bias there is, by the measurements of `pairs`: of the transformation, of the classifier, or nobody knows.

    The transformation is biased where the share of a label moves from before to after: its interval, widened for the
    choice among more than two labels, excludes 0, with two classifiers also once their own skews on held-out texts are
    taken off, and it has the same sign in every classifier that was trained again.
    """
    shifts = {name: _row(rows, f"difference.skew[{name}]") for name in pairs.label_names}
    own = dict.fromkeys(pairs.label_names, 0.0)
    if pairs.two:
        doubt = _doubt_about_two(pairs, margin)
        if doubt:
            return BiasVerdict(OPEN, doubt)
        before, after = (pairs.held_out[side].expected(pairs.gold) for side in SIDES)
        own = dict(zip(pairs.label_names, (after - before).tolist(), strict=True))
    families = len(pairs.label_names) if len(pairs.label_names) > 2 else 1
    wide = {name: _widened(row, families) for name, row in shifts.items()}
    apparent = [name for name, row in wide.items() if not _holds(row, 0.0)]
    moved = [name for name in apparent if not _holds(wide[name], own[name])]
    unsteady = [name for name in moved if not _is_steady(rows, shifts[name])]
    if apparent and not moved:
        why = "the second classifier is skewed as far on texts of its own that it did not learn from"
        return BiasVerdict(OPEN, why, tuple(apparent))
    if moved and len(unsteady) == len(moved):
        return BiasVerdict(OPEN, "the shift changes its sign when the classifier is trained again", tuple(moved))
    if moved:
        return BiasVerdict(
            BIASED, "shares move by more than chance", tuple(name for name in moved if name not in unsteady)
        )
    skews = [[_row(rows, f"skew[{name}]", side=side) for side in SIDES] for name in pairs.label_names]
    if any((a.value or 0) * (b.value or 0) > 0 and not (_holds(a, 0.0) and _holds(b, 0.0)) for a, b in skews):
        return BiasVerdict(CLASSIFIER, "both distributions are skewed to the same side of the gold labels")
    return BiasVerdict(NOTHING, "no share moves by more than chance")


def _doubt_about_two(pairs: AnsweredPairs, margin: float) -> str:
    """Why nothing can be said with two classifiers; empty where something can."""
    if any(side not in pairs.held_out for side in SIDES):
        return "nothing says how good both classifiers are on texts that they did not learn from"
    first, second = (held_out_f1(pairs.held_out[side], pairs.label_names) for side in SIDES)
    if abs(first - second) > margin:
        return f"macro F1 of the two classifiers on held-out texts is {first:.2f} and {second:.2f}"
    return ""


def held_out_f1(held_out: HeldOut, label_names: Sequence[str]) -> float:
    """Macro F1 of a classifier on texts that it did not learn from."""
    return metric("f1.macro")(held_out.gold, held_out.probabilities, label_names) or 0.0


def _row(rows: Sequence[Measurement], name: str, **tags: str) -> Measurement:
    return next(
        row
        for row in rows
        if row.metric == name
        and row.slice == "all"
        and "seed" not in row.tags
        and tags.items() <= dict(row.tags).items()
    )


def _widened(row: Measurement, families: int) -> Measurement:
    if row.low is None or row.high is None or families == 1:
        return row
    low, high = widened(row.low, row.high, float(row.tags["standard_error"]), float(row.tags["df"]), families)
    return replace(row, low=low, high=high)


def _is_steady(rows: Sequence[Measurement], shift: Measurement) -> bool:
    again = [row.value or 0.0 for row in rows if row.metric == shift.metric and "seed" in row.tags]
    return all(value * (shift.value or 0.0) > 0 for value in again)
