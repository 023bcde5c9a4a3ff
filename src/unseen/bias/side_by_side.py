"""The same numbers on several sets of rows: the parts of random and hard splits, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen.bias.error_rates import RATES
from unseen.bias.group_table import group_measurements
from unseen.bias.groups import Groups
from unseen.bias.subgroup import subgroup_measurements
from unseen.errors import InputError
from unseen.types import Dataset, Measurement, Predictions, Split


class Place(NamedTuple):
    """Rows that are measured on their own, and the tags that tell them apart."""

    rows: npt.NDArray[np.intp]
    tags: Mapping[str, str]


def parts_of_splits(
    data: Dataset,
    splits: Sequence[Split] = (),
    parts: Sequence[str] = (),
    predictions: Predictions | None = None,
) -> list[Place]:
    """The `parts` of every split, by default all but train; without splits, all rows are one place.

    A part of which no row has a prediction is left out; with some but not all, measuring refuses it.
    """
    if not splits:
        if parts:
            raise InputError("parts have no effect without a split", fix="name a split, or leave the parts out")
        return [Place(np.arange(len(data)), {})]
    known = np.ones(len(data), bool)
    if predictions is not None:
        known = pc.is_in(data.ids, value_set=predictions.ids).to_numpy()
    found = []
    for split in (each.of(data) for each in splits):
        for part in parts or [each for each in split.sizes if each not in ("train", "unused")]:
            rows = split.rows(part)
            if known[rows].any():
                found.append(Place(rows, {"split": split.name, "part": part}))
    if not found:
        raise InputError("no part of the splits has rows with a prediction", expected="ids of the data")
    return found


def bias_measurements(
    data: Dataset,
    predictions: Predictions,
    groups: Groups,
    where: Sequence[Place],
    positive: Sequence[str],
    *,
    backgrounds: Sequence[str] = ("all",),
    metrics: Sequence[str] = (),
    **options: Any,
) -> list[Measurement]:
    """`subgroup_measurements` of every background and `group_measurements` of the metrics, place by place.

    `options` are theirs: `units`, `draws`, `seed`. No background, no AUCs.
    """
    found = []
    rates = [] if set(metrics).isdisjoint(RATES) else list(positive)
    for rows, tags in where:
        given: dict[str, Any] = {"tags": tags, **options}
        for each in backgrounds:
            found += subgroup_measurements(data, predictions, groups, rows, positive, background=each, **given)
        if metrics:
            found += group_measurements(data, predictions, groups, rows, metrics, positive=rates, **given)
    return found
