"""Two sets of measurements, A and B: which single trainings are the same but for what changed, and by how much."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.falls import over_seeds
from unseen.evaluation.intervals import describes_number
from unseen.types import Measurement

SETUP = ("data", "space", "model")
"""Tags that tell setups apart; where each side has one setup only, they need not be the same."""
OF_ONE_TRAINING = ("split", "seed")
OF_A_DIFFERENCE = ("a", "b", "trainings", "tested_rows")
"""Tags that a difference has of its own."""
OF_THE_QUESTION = ("part", "than", "floor")
"""Tags that say what a number is rather than of what: without them it would be another."""
SAME = 1e-12
"""Differences that are nearer than this differ by rounding alone."""
Key = tuple[tuple[str, str], ...]
Pair = tuple[Measurement, Measurement]


@dataclass(frozen=True)
class PairedTrainings:
    """Trainings of two runs side by side, in groups of equal metric, slice and tags but split and seed."""

    groups: Mapping[Key, tuple[Pair, ...]]
    """Pairs of A and B; only groups that have some."""
    only_a: tuple[Key, ...]
    """Groups that B does not have."""
    only_b: tuple[Key, ...]
    apart: tuple[Key, ...]
    """Groups that both have, without a training in common."""
    ignored: Mapping[str, tuple[str, str]]
    """Tags that were not compared, with their one value in A and in B; empty where a side does not have it."""
    tags: tuple[str, ...]
    """Tags that were compared."""


def difference(group: Key, pairs: Sequence[Pair]) -> Measurement:
    """`difference.METRIC`, B minus A, of one group of paired trainings: their mean with a 95 % interval.

    `low` and `high` are Student's t over the paired differences; they are missing with one pair, and where
    all differences are the same number, because trainings that do not vary say nothing about another one.
    The interval is about training again, not about other texts, and it takes pairs to be independent:
    where each of several seeds is crossed with several splits, it is rather too narrow. The tags `a`, `b` and
    `trainings` hold the two means and the number of pairs; `n` is the number of rows that B was tested on.
    """
    values = [_value(second) - _value(first) for first, second in pairs]
    mean, _, low, high = over_seeds(values)
    if np.ptp(values) < SAME:
        low = high = None
    n = sum({second.tags["split"]: second.n for _, second in pairs}.values())
    means = {name: float(np.mean([_value(pair[side]) for pair in pairs])) for side, name in enumerate("ab")}
    tags = {name: text for name, text in group if name not in ("metric", "slice")}
    metric, slice_ = dict(group)["metric"], dict(group)["slice"]
    return Measurement(f"difference.{metric}", mean, n, low, high, slice_, {**tags, **means, "trainings": len(pairs)})


def paired(a: Sequence[Measurement], b: Sequence[Measurement]) -> PairedTrainings:
    """The single trainings of two runs, paired by all their tags; a score that is missing makes no pair.

    A tag of the setup (data, space, model) is ignored where each side has at most one value of it: then it
    is what was changed between the two.
    """
    ignored = _ignored(a, b)
    first, second = (_trainings(rows, ignored, side) for rows, side in ((a, "A"), (b, "B")))
    groups: dict[Key, list[Pair]] = {}
    for key in first:
        if key in second:
            groups.setdefault(_group(key), []).append((first[key], second[key]))
    in_a, in_b = (dict.fromkeys(map(_group, rows)) for rows in (first, second))
    return PairedTrainings(
        {key: tuple(pairs) for key, pairs in groups.items()},
        tuple(key for key in in_a if key not in in_b),
        tuple(key for key in in_b if key not in in_a),
        tuple(key for key in in_a if key in in_b and key not in groups),
        ignored,
        tuple(dict.fromkeys(name for key in (*first, *second) for name, _ in key if name not in ("metric", "slice"))),
    )


def paired_falls(a: Sequence[Measurement], b: Sequence[Measurement], ignored: Iterable[str] = ()) -> list[Pair]:
    """The rows `fall.METRIC` of families that both sides have, equal in all tags but `ignored`."""
    falls = []
    for rows in (a, b):
        known = [row for row in rows if row.metric.startswith("fall.") and row.value is not None]
        falls.append({key_of(row, ignored): row for row in known if not of_one_training(row)})
    return [(row, falls[1][key]) for key, row in falls[0].items() if key in falls[1]]


def key_of(row: Measurement, ignored: Iterable[str] = ()) -> Key:
    """What a number is of: metric, slice and tags, without those that describe the number."""
    names = {name for name in row.tags if not describes_number(name)}.difference(ignored)
    return (("metric", row.metric), ("slice", row.slice), *((name, str(row.tags[name])) for name in sorted(names)))


def other_names(a: Sequence[Measurement], b: Sequence[Measurement]) -> dict[str, tuple[str, str]]:
    """Tags of which each side has one value, and not the same: what was changed between the two.

    Only those without which more numbers have their like on the other side, and none has two.
    """
    tags = dict.fromkeys(tag for row in (*a, *b) for tag in row.tags if not describes_number(tag))
    values = {tag: _values(a, b, tag) for tag in tags if tag not in OF_THE_QUESTION}
    names = {tag: pair for tag, pair in values.items() if pair is not None}

    told_apart = [len({key_of(row) for row in rows}) for rows in (a, b)]

    def in_common(ignored: Iterable[str]) -> int:
        keys = [{key_of(row, ignored) for row in rows} for rows in (a, b)]
        return -1 if [*map(len, keys)] != told_apart else len(keys[0] & keys[1])

    for tag in [*names]:
        names = names if in_common([tag]) >= 0 else {name: pair for name, pair in names.items() if name != tag}
    most = in_common(names)
    return {tag: pair for tag, pair in names.items() if in_common(set(names) - {tag}) < most}


def of_one_training(row: Measurement) -> bool:
    """Whether the row is a score of one training, not a mean and not a property of a split."""
    return all(tag in row.tags for tag in OF_ONE_TRAINING) and row.tags["seed"] != "mean"


def _ignored(a: Iterable[Measurement], b: Iterable[Measurement]) -> dict[str, tuple[str, str]]:
    """The tags of the setup of which each side has at most one value, and not the same."""
    ignored = {}
    first, second = ([row for row in rows if of_one_training(row)] for rows in (a, b))
    for tag in SETUP:
        if (values := _values(first, second, tag)) is not None:
            ignored[tag] = values
    return ignored


def _values(a: Iterable[Measurement], b: Iterable[Measurement], tag: str) -> tuple[str, str] | None:
    """The one value of a tag on each side, empty where a side has none; None where they are several, or the same."""
    first, second = ({str(row.tags[tag]) for row in rows if tag in row.tags} for rows in (a, b))
    if first == second or max(len(first), len(second)) > 1:
        return None
    return next(iter(first), ""), next(iter(second), "")


def _trainings(rows: Iterable[Measurement], ignored: Iterable[str], side: str) -> dict[Key, Measurement]:
    trainings: dict[Key, Measurement] = {}
    for row in rows:
        if of_one_training(row) and row.value is not None:
            key = key_of(row, ignored)
            if key in trainings:
                training = ", ".join(f"{name} {value}" for name, value in key)
                raise InputError(f"two measurements of {side} are of the same training: {training}")
            trainings[key] = row
    return trainings


def _group(key: Key) -> Key:
    return tuple((name, value) for name, value in key if name not in OF_ONE_TRAINING)


def _value(row: Measurement) -> float:
    assert row.value is not None
    return row.value
