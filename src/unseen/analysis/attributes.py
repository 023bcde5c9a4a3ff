"""How values of categorical attributes, and groups, lie on the two sides of a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.analysis.sides import Sides, sides_of
from unseen.errors import InputError
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Rows, is_list

MOST_CATEGORIES = 50
ROWS_PER_CATEGORY = 10
"""An attribute is a category when it has few values and each has this many rows on average."""
FREQUENT = 0.03
"""Share of the rows from which on a value is looked at."""
UNDER = 0.5
"""Share of a value's rows in training below which it is under-represented."""


@dataclass(frozen=True, eq=False)
class Values:
    """Which rows have which values of an attribute; a row has none, one or several."""

    names: tuple[str, ...]
    rows: Rows
    """Row of each occurrence; a value counts once per row."""
    codes: Rows
    """Position in `names` of each occurrence."""

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Values:
        """The values of a column, a list in a row as several values."""
        values, rows = column.combine_chunks(), np.arange(len(column))
        if isinstance(values, pa.ChunkedArray):  # older pyarrow
            values = pa.concat_arrays(values.chunks)
        if is_list(column.type):
            rows = pc.list_parent_indices(values).to_numpy(zero_copy_only=False)
            values = pc.list_flatten(values)
        known = pc.is_valid(values).to_numpy(zero_copy_only=False)
        encoded = pc.dictionary_encode(values.filter(pa.array(known)).cast(pa.large_string()))
        names = np.array(encoded.dictionary.to_pylist(), dtype=object)
        order = np.argsort(names, kind="stable")
        codes = np.argsort(order)[encoded.indices.to_numpy(zero_copy_only=False)] if len(names) else np.empty(0, int)
        pairs = np.unique(np.stack([rows[known].astype(np.intp), codes.astype(np.intp)]), axis=1)
        return cls(tuple(names[order]), pairs[0], pairs[1])

    def counts(self, rows: Rows, n: int) -> npt.NDArray[np.int64]:
        """In how many of `rows` each value occurs; the data has `n` rows."""
        inside = np.zeros(n, bool)
        inside[rows] = True
        return np.bincount(self.codes[inside[self.rows]], minlength=len(self.names))


def attribute_kinds(
    data: Dataset, categories: Sequence[str] | None = None, groups: Sequence[str] | None = None
) -> tuple[list[str], list[str]]:
    """Which attributes are looked at as categories and which as groups.

    What is given is taken. Of the others, an attribute of lists is a category; one with at most 50 values
    that have ten rows each on average is a category; one with more values, some of them repeated, is a
    grouping. Times and numbers with decimals are neither, nor is an attribute with one value.
    """
    named = {*(categories or ()), *(groups or ())}
    kinds = {name: _kind(data.attribute(name)) for name in data.attributes if name not in named}
    as_category = [name for name, kind in kinds.items() if kind == "category"] if categories is None else categories
    as_grouping = [name for name, kind in kinds.items() if kind == "grouping"] if groups is None else groups
    for name in {*as_category, *as_grouping}:
        data.attribute(name)
    return list(as_category), list(as_grouping)


def _kind(column: pa.ChunkedArray) -> str | None:
    if is_list(column.type):
        return "category"
    if pa.types.is_temporal(column.type) or pa.types.is_floating(column.type):
        return None
    values, rows = pc.count_distinct(column).as_py(), len(column) - column.null_count
    if values < 2 or values == rows:
        return None
    return "category" if values <= MOST_CATEGORIES and rows >= ROWS_PER_CATEGORY * values else "grouping"


def under_represented(data: Dataset, split: Split, attribute: str) -> list[Measurement]:
    """How many frequent values of `attribute` have most of their rows outside training; and where each lies.

    Frequent is a value in at least 3 % of the rows of both sides; `n` is the number of them. For each there is
    also `train_share`: the share of its rows that is on the training side.
    """
    sides = sides_of(data, split)
    names, train, test = _frequent(data, sides, attribute)
    shares = train / np.maximum(train + test, 1)
    few, n = float((shares < UNDER).sum()), len(names)
    rows = [Measurement(f"under_represented.{attribute}", few if n else None, n, tags=sides.tags())]
    return rows + [
        Measurement("train_share", float(share), int(count), slice=f"{attribute}={name}", tags=sides.tags())
        for name, share, count in zip(names, shares, train + test, strict=True)
    ]


def value_shares(data: Dataset, split: Split, attribute: str) -> list[Measurement]:
    """`value_share`: the share of the test rows that have each frequent value of `attribute`."""
    sides = sides_of(data, split)
    names, _, test = _frequent(data, sides, attribute)
    n = len(sides.test)
    return [
        Measurement("value_share", float(count / n), n, slice=f"{attribute}={name}", tags=sides.tags())
        for name, count in zip(names, test, strict=True)
        if n
    ]


def shift(data: Dataset, split: Split, attribute: str) -> list[Measurement]:
    """How differently the values of `attribute` are distributed in test and training: 0 alike, towards 1 unlike.

    For each value the Kullback-Leibler divergence from test to training of the row having it or not, in
    natural units; the mean over values, weighted by rows; mapped by 1 - exp(-x). Half a row is added to having
    and to not having the value on each side, so a value that one side lacks is finite. Small test parts give
    small shifts by chance: compare with a random split.
    """
    sides = sides_of(data, split)
    train, test = _counts(data, sides, attribute)[1:]
    weights = train + test
    if not weights.sum():
        return [Measurement(f"shift.{attribute}", None, 0, tags=sides.tags())]
    p = (test + 0.5) / (len(sides.test) + 1)
    q = (train + 0.5) / (len(sides.train) + 1)
    divergence = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
    value = -np.expm1(-np.average(divergence, weights=weights))
    return [Measurement(f"shift.{attribute}", float(max(0.0, value)), int(weights.sum()), tags=sides.tags())]


def split_groups(data: Dataset, split: Split, attribute: str) -> list[Measurement]:
    """Share of the groups with at least two rows that have rows on both sides; rows without a value are no group."""
    column = data.attribute(attribute)
    if is_list(column.type):
        raise InputError(f"{attribute!r} cannot group: a row has several values", expected="one value per row")
    sides = sides_of(data, split)
    _, train, test = _counts(data, sides, attribute)
    large = train + test >= 2
    both = (train > 0) & (test > 0)
    n = int(large.sum())
    return [Measurement(f"split_groups.{attribute}", float(both.sum() / n) if n else None, n, tags=sides.tags())]


def _counts(data: Dataset, sides: Sides, attribute: str) -> tuple[tuple[str, ...], Any, Any]:
    values = Values.of(data.attribute(attribute))
    return values.names, values.counts(sides.train, len(data)), values.counts(sides.test, len(data))


def _frequent(data: Dataset, sides: Sides, attribute: str) -> tuple[list[str], Any, Any]:
    names, train, test = _counts(data, sides, attribute)
    kept = np.flatnonzero(train + test >= FREQUENT * (len(sides.train) + len(sides.test)))
    return [names[place] for place in kept], train[kept], test[kept]
