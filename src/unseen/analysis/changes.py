"""Which properties of a split differ most from those of random splits, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unseen.types import Measurement
from unseen.types.arrays import Floats
from unseen.types.numbers import number, percent, told_apart

SMALLEST = 0.1
"""Differences below it are not worth a word."""

SAYINGS = {
    "unigram_overlap": (
        "test texts share more words with the nearest training text",
        "test texts share fewer words with the nearest training text",
    ),
    "length.words": ("test texts are longer", "test texts are shorter"),
    "rare_words": ("test texts hold more rare words", "test texts hold fewer rare words"),
    "class_word_overlap": (
        "test and training have more of the words typical of a class in common",
        "test and training have fewer of the words typical of a class in common",
    ),
    "split_groups.": (
        "more groups of {of} have texts on both sides",
        "fewer groups of {of} have texts on both sides",
    ),
    "nearest_train_distance.": (
        "test texts are farther from the nearest training text",
        "test texts are nearer to the nearest training text",
    ),
    "label_share": ("more test texts are labelled “{of}”", "fewer test texts are labelled “{of}”"),
    "value_share": ("more test texts have {of}", "fewer test texts have {of}"),
}
"""What to say when a property of the test part is higher, and when it is lower; a name that ends in a dot goes on."""

BY_SLICE = ("label_share", "value_share")
"""Properties of which there is one for each label or value."""
SHARES = (*BY_SLICE, "class_word_overlap", "split_groups.")
UNITS = {"length.words": " words", "rare_words": " per text"}


@dataclass(frozen=True)
class PropertyChange:
    """A property that differs from that of random splits."""

    metric: str
    value: float
    baseline: float
    """Mean over the random splits."""
    difference: float
    """Signed, in comparable units: standard deviations of a text (Cohen's d), for shares the arcsine scale
    (Cohen's h). .2 is small, .8 is large."""
    sentence: str


def largest_changes(properties: Sequence[Measurement], split: str, baselines: Sequence[str]) -> list[PropertyChange]:
    """The properties in which `split` differs from the splits named `baselines`, the largest difference first.

    Left out is what differs by less than a tenth of a unit, by no more than the baselines differ from their
    own mean, or by no more than chance would for a test part of this size; of the values of one attribute, or of the
    labels, all but the one that differs most.
    """
    changes: list[tuple[tuple[str, str], PropertyChange]] = []
    mine = _comparable(properties, split)
    others = [_comparable(properties, name) for name in dict.fromkeys(baselines)]
    for key, row in mine.items():
        known = [rows[key] for rows in others if key in rows]
        if known and (change := _change(row, known)):
            changes.append(((row.metric, row.slice.partition("=")[0]), change))
    changes.sort(key=lambda change: (-abs(change[1].difference), change[1].metric, change[1].sentence))
    largest: dict[tuple[str, str], PropertyChange] = {}
    for about, change in changes:
        largest.setdefault(about, change)
    return list(largest.values())


def _comparable(properties: Sequence[Measurement], split: str) -> dict[tuple[str, str], Measurement]:
    """Rows of the test part of one split that have something to say, by metric and slice."""
    return {
        (row.metric, row.slice): row
        for row in properties
        if row.value is not None
        and row.tags.get("split") == split
        and row.tags.get("part") == "test"
        and _saying(row.metric) is not None
        and (row.slice == "all" or row.metric in BY_SLICE)
    }


def _change(row: Measurement, baselines: Sequence[Measurement]) -> PropertyChange | None:
    places = _on_scale([row, *baselines])
    middle = float(np.mean(places[1:]))
    difference = float(places[0]) - middle
    spread = float(np.abs(places[1:] - middle).max())
    if abs(difference) <= max(SMALLEST, spread, _chance(row)):
        return None
    value, baseline = float(row.value or 0), float(np.mean([other.value for other in baselines]))
    return PropertyChange(row.metric, value, baseline, difference, _sentence(row, baseline, difference > 0))


def _on_scale(rows: Sequence[Measurement]) -> Floats:
    """The values on a scale whose unit means the same for every property."""
    values = np.array([row.value for row in rows], np.float64)
    if rows[0].low is not None:
        deviation = float(np.sqrt(np.mean([_deviation(row) ** 2 for row in rows])))
        return values / (deviation or float(np.abs(values).max()) or 1.0)
    return 2 * np.arcsin(np.sqrt(np.clip(values, 0, 1)))


def _deviation(row: Measurement) -> float:
    """Standard deviation over texts, from the interval of their mean; one end may be cut at a bound."""
    if row.low is None or row.high is None or row.value is None:
        return 0.0
    return max(row.high - row.value, row.value - row.low) / 1.96 * float(np.sqrt(row.n))


def _chance(row: Measurement) -> float:
    """What a property of this many texts may differ by chance; 0 where `n` does not count texts."""
    counts_texts = row.low is not None or row.metric in BY_SLICE
    return float(1.96 / np.sqrt(row.n)) if counts_texts else 0.0


def _saying(metric: str) -> tuple[str, tuple[str, str]] | None:
    """What the metric is about, and its two sayings."""
    if metric.endswith(".matched_random"):
        return None
    for name, sayings in SAYINGS.items():
        if metric == name or (name.endswith(".") and metric.startswith(name)):
            return metric.removeprefix(name), sayings
    return None


def _sentence(row: Measurement, baseline: float, higher: bool) -> str:
    of, sayings = _saying(row.metric) or ("", ("", ""))
    attribute, _, sliced = row.slice.partition("=")
    about = of or (sliced if attribute == "label" else f"{attribute} “{sliced}”")
    saying = sayings[0 if higher else 1].format(of=about)
    value = float(row.value or 0)
    if row.metric.startswith(SHARES):
        return f"{saying}: {percent(value)} against {percent(baseline)}"
    shown, other = _figures(value, baseline)
    return f"{saying}: {shown}{UNITS.get(row.metric, '')} against {other}"


def _figures(value: float, other: float) -> tuple[str, str]:
    """Both numbers with as few decimals as tell them apart, and about how far."""
    if value.is_integer() and other.is_integer() and max(value, other) > 1:
        return number(value, 0), number(other, 0)
    shown, beside = told_apart(value, other, places=1 if max(abs(value), abs(other)) >= 10 else 2)
    return shown, beside
