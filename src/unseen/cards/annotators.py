"""Labels of single annotators: how far they agree, overall and within groups, and whether groups label differently.

The difference of two groups is the mean, over items that both labelled, of the share of one group that gave a label
less that of the other. Its p-value shuffles who is of which group among the annotators of each item: if groups do not
matter, this changes nothing but by chance. Groups differ in more than their name, so a difference is no cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.data.tables import column_names, read_strings
from unseen.errors import TableError
from unseen.evaluation.bootstrap import DRAWS, percentiles
from unseen.evaluation.contrasts import holm
from unseen.functional.agreement import agreement
from unseen.seeding import generator
from unseen.types import Measurement, some

Codes = npt.NDArray[np.intp]
SHUFFLES = 10_000
BLOCK = 2_000_000
"""Shuffled items that are held at once."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """One row per answer of an annotator."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    """Names of the groups; empty when none were given."""
    item: Codes
    label: Codes
    group: Codes

    def counts(self, group: int | None = None) -> npt.NDArray[np.intp]:
        """How often each item got each label [items, labels], from one group or from all."""
        rows = slice(None) if group is None else self.group == group
        table = np.zeros((len(self.items), len(self.labels)), dtype=np.intp)
        np.add.at(table, (self.item[rows], self.label[rows]), 1)
        return table


def read_ratings(path: str | Path) -> Ratings:
    """The answers in a table with the columns item, annotator, label and, where it is there, group."""
    names = ["item", "annotator", "label", *(["group"] if "group" in column_names(path) else [])]
    columns = {name: column.to_pylist() for name, column in read_strings(path, names, "annotations").items()}
    _refuse_wrong_rows(columns, path)
    coded = {name: np.unique(np.array(values, dtype=str), return_inverse=True) for name, values in columns.items()}
    no_groups = (np.empty(0, dtype=str), np.zeros(len(columns["item"]), dtype=np.intp))
    parts = [coded["item"], coded["label"], coded.get("group", no_groups)]
    texts = [tuple(values.tolist()) for values, _ in parts]
    return Ratings(*texts, *(codes.reshape(-1).astype(np.intp) for _, codes in parts))  # type: ignore[arg-type]


def label_bias(ratings: Ratings, seed: int = 42) -> list[Measurement]:
    """Agreement overall and within groups, and the difference of every pair of groups in every label."""
    measurements = agreement(ratings.counts(), ratings.labels, seed=seed)
    for code, group in enumerate(ratings.groups):
        own = agreement(ratings.counts(code), ratings.labels, seed=seed)
        measurements += [replace(row, slice=f"group={group}") for row in own]
    return measurements + group_effects(ratings, seed)


def group_effects(ratings: Ratings, seed: int = 42) -> list[Measurement]:
    """`group_effect` for each pair of groups and label, with interval, p and p adjusted by Holm's method (`p_holm`)."""
    counts = [ratings.counts(code) for code in range(len(ratings.groups))]
    # with two labels the second says what the first says, with the other sign
    labels = range(1, 2) if len(ratings.labels) == 2 else range(len(ratings.labels))
    effects = [
        _effect(ratings, counts[a][:, label], counts[a].sum(axis=1), counts[b][:, label], counts[b].sum(axis=1),
                (ratings.groups[a], ratings.groups[b], ratings.labels[label]), seed)
        for a, b in combinations(range(len(ratings.groups)), 2)
        for label in labels
    ]  # fmt: skip
    adjusted = iter(holm([float(row.tags["p"]) for row in effects if row.value is not None]))
    return [
        replace(row, tags={**row.tags, "p_holm": next(adjusted)}) if row.value is not None else row for row in effects
    ]


def evidence_of(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The answer to the card's question on label bias."""
    evidence: dict[str, Any] = {"agreement": {}, "group_effects": []}
    for row in measurements:
        figures = {"value": row.value, "low": row.low, "high": row.high, "n": row.n}
        if row.metric == "group_effect":
            evidence["group_effects"].append({**row.tags, **figures})
        elif row.metric.startswith("krippendorff_alpha"):
            evidence["agreement"][row.slice] = {"metric": row.metric, **figures}
    return evidence


def _effect(
    ratings: Ratings, yes_a: Codes, all_a: Codes, yes_b: Codes, all_b: Codes, names: tuple[str, str, str], seed: int
) -> Measurement:
    tags: dict[str, str | int | float] = dict(zip(("first", "second", "label"), names, strict=True))
    both = (all_a > 0) & (all_b > 0)
    yes_a, all_a, yes_b, all_b = yes_a[both], all_a[both], yes_b[both], all_b[both]
    if not both.any():
        return Measurement("group_effect", None, 0, tags=tags)
    apart = yes_a / all_a - yes_b / all_b
    draw = generator(seed, "groups", *names)
    tags["p"] = _shuffle_p(yes_a + yes_b, all_a, all_b, abs(float(apart.mean())), draw)
    means = np.concatenate([apart[draw.integers(len(apart), size=(size, len(apart)))].mean(axis=1)
                            for size in _sizes(DRAWS, len(apart))])  # fmt: skip
    low, high = percentiles(means) or (None, None)
    return Measurement("group_effect", float(apart.mean()), len(apart), low, high, tags=tags)


def _shuffle_p(yes: Codes, all_a: Codes, all_b: Codes, observed: float, draw: np.random.Generator) -> float:
    """Share of shuffles within items that part the groups at least as far; the observed one is among them."""
    hits, everyone = 0, all_a + all_b
    for size in _sizes(SHUFFLES, len(yes)):
        # shuffling groups among the annotators of an item draws those of the first group without replacement
        first = draw.hypergeometric(yes, everyone - yes, all_a, size=(size, len(yes)))
        means = (first / all_a - (yes - first) / all_b).mean(axis=1)
        hits += int((np.abs(means) >= observed - 1e-9).sum())
    return (1 + hits) / (1 + SHUFFLES)


def _sizes(total: int, items: int) -> Iterator[int]:
    step = max(1, BLOCK // items)
    yield from (min(step, total - start) for start in range(0, total, step))


def _refuse_wrong_rows(columns: dict[str, list[str | None]], path: str | Path) -> None:
    problems = []
    for name, values in columns.items():
        blank = [row for row, value in enumerate(values, start=1) if value is None]
        problems += [f"{len(blank)} rows have no {name}: rows {some(blank)}"] if blank else []
    pairs = list(zip(columns["item"], columns["annotator"], strict=True))
    twice = len(pairs) - len(set(pairs))
    problems += [f"{twice} rows repeat an annotator's answer about an item"] if twice else []
    if "group" in columns:
        memberships = Counter(name for name, _ in set(zip(columns["annotator"], columns["group"], strict=True)))
        several = sorted(str(name) for name, groups in memberships.items() if groups > 1)
        problems += [f"{len(several)} annotators are of several groups: {some(several)}"] if several else []
    problems += [] if pairs else ["there is no row"]
    if problems:
        raise TableError(f"{path} has wrong rows", problems=problems)
