"""All measurements of bias on several sets of rows: the parts of random and hard splits, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.subgroups.group_table import group_measurements
from unseen.subgroups.groups import Groups
from unseen.subgroups.positives import RATES
from unseen.subgroups.subgroup import subgroup_measurements
from unseen.types import Dataset, Measurement, Predictions, Split, as_names
from unseen.types.arrays import Rows


class TaggedRows(NamedTuple):
    """Rows that are measured on their own, and the tags that tell them apart."""

    rows: Rows
    tags: Mapping[str, str]


def parts_of_splits(
    data: Dataset,
    splits: Sequence[Split] = (),
    parts: Sequence[str] = (),
    predictions: Predictions | None = None,
) -> list[TaggedRows]:
    """The `parts` of every split, by default all but train; without splits, all rows together.

    A part of which no row has a prediction is left out; with some but not all, measuring refuses it.
    """
    if not splits:
        if parts:
            raise InputError("parts have no effect without a split", fix="name a split, or leave the parts out")
        return [TaggedRows(np.arange(len(data)), {})]
    known = np.ones(len(data), bool)
    if predictions is not None:
        known = pc.is_in(data.ids, value_set=predictions.ids).to_numpy()
    sets = []
    for split in (split.of(data) for split in splits):
        for part in parts or [name for name in split.sizes if name not in ("train", "unused")]:
            rows = split.rows(part)
            if known[rows].any():
                sets.append(TaggedRows(rows, {"split": split.name, "part": part}))
    if not sets:
        raise InputError("no part of the splits has rows with a prediction", expected="ids of the data")
    return sets


def bias_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    sets: Sequence[TaggedRows],
    positive: Sequence[str],
    *,
    backgrounds: Sequence[str] = ("all",),
    metrics: Sequence[str] = (),
    **options: Any,
) -> list[Measurement]:
    """`subgroup_measurements` of every background and `group_measurements` of the metrics, set by set.

    `options` are theirs: `units`, `draws`, `seed`. No background, no AUCs.
    """
    measurements = []
    rates = () if set(metrics).isdisjoint(RATES) else as_names(positive)
    for rows, tags in sets:
        given: dict[str, Any] = {"tags": tags, **options}
        for background in backgrounds:
            measurements += subgroup_measurements(
                data, predictions, groups, rows, positive, background=background, **given
            )
        if metrics:
            measurements += group_measurements(data, predictions, groups, rows, metrics, positive=rates, **given)
    return measurements
