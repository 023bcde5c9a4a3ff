"""Groups on one side, by moving what leaks or by drawing the parts anew, and at most so many rows of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from unseen.data.groups import NONE, alone, group_codes
from unseen.errors import InfeasibleError
from unseen.repairs.copies import ties
from unseen.repairs.draft import Draft, names_of
from unseen.repairs.recipe import RepairRecipe
from unseen.seeding import generator
from unseen.splits.grouped import GroupedSplit
from unseen.splits.quotas import within_cap
from unseen.splits.random import RandomSplit
from unseen.splits.split_records import split_records
from unseen.types import TEST, TRAIN, Certificate, Dataset
from unseen.types.arrays import Rows

UNIT = "unit"


def values(data: Dataset, rows: Rows, attribute: str, links: bool = False) -> tuple[Rows, int]:
    """A number per row of `rows`, equal for equal values, and how many rows have none; each of these is alone.

    With `links` values may be ids: rows that are linked have one number.
    """
    codes = group_codes(data, attribute, links)[rows]
    return alone(codes), int((codes == NONE).sum())


def joined(numberings: Sequence[Rows]) -> Rows:
    """The connected components of several numberings: rows that share a group in any of them, or with one that does."""
    n = len(numberings[0])
    links = [np.unique(codes, return_index=True, return_inverse=True)[1:] for codes in numberings]
    ends = np.concatenate([first[group.reshape(-1)] for first, group in links])
    starts = np.tile(np.arange(n), len(numberings))
    graph = sparse.coo_array((np.ones(len(ends), np.int8), (starts, ends)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)


@dataclass(frozen=True, eq=False)
class Units:
    """What stays on one side: a number per active row, and a name of what made them."""

    codes: Rows
    by: str
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many units there are."""
        return int(self.codes.max(initial=-1)) + 1

    @property
    def largest(self) -> int:
        """Rows of the largest unit."""
        return int(np.bincount(self.codes).max(initial=0))


def units_of(draft: Draft, recipe: RepairRecipe) -> Units:
    """The connected components of all grouping attributes and of the texts that stay together."""
    rows, numberings, names, notes = draft.active, [], [], []
    for attribute in recipe.groups:
        codes, missing = values(draft.data, rows, attribute, attribute in recipe.links)
        numberings.append(codes)
        names.append(f"{attribute} (links between rows)" if attribute in recipe.links else attribute)
        if missing:
            notes.append(f"{missing:,} rows have no {attribute}: each is a group of its own")
    if recipe.together:
        numberings.append(ties(draft.data, rows, recipe.together, recipe.seed).groups())
        names.append(f"{recipe.together} duplicates")
    return Units(joined(numberings), " and ".join(names), tuple(notes))


def move_minimally(draft: Draft, recipe: RepairRecipe) -> Draft:
    """The draft in which no unit is on both sides, with as few changes as possible.

    `move`: the rows of a unit go to the side that holds most of it, at a tie to the one that `keep` names. `drop`: the
    side that `keep` names stays as it is, the other one loses its rows. Training and development rows are one side.
    """
    units, keeps_test = units_of(draft, recipe), recipe.keep == "test"
    rows, tested = draft.active, draft.tested
    test, other = (np.bincount(units.codes[side], minlength=units.count) for side in (tested, ~tested))
    both = ((test > 0) & (other > 0))[units.codes]
    why = f"its group by {units.by} is on both sides"
    if recipe.minimal == "drop":
        return draft.dropped(rows[both & (tested != keeps_test)], why)
    to_test = ((test > other) | ((test == other) & keeps_test))[units.codes]
    wrong = both & (tested != to_test)
    to = np.where(to_test, TEST, TRAIN).astype(np.int8)
    return draft.moved(rows[wrong], to[wrong], f"{why}; most of it is on this one")


def refuse_one_side(draft: Draft) -> None:
    """Refuse a draft without training or without test rows."""
    test, training = int(draft.tested.sum()), int((~draft.tested).sum())
    if not test or not training:
        raise InfeasibleError(
            "the repair leaves one side without rows",
            got=f"{test} test rows, {training} training rows",
            fix="draw the parts anew (without minimal), keep the other side, or group by a finer attribute",
        )


def draw_anew(draft: Draft, units: Units | None, recipe: RepairRecipe) -> tuple[Draft, Certificate]:
    """The draft with new training, development and test parts of whole units, and the proof of their sizes.

    Sizes are counted in rows that are still there; the class mix is theirs.
    """
    rows = draft.active
    sub = _undivided(draft, units)
    size: dict[str, Any] = {"test_size": recipe.test, "random_state": recipe.seed}
    splitter = RandomSplit(**size) if units is None else GroupedSplit(**size)
    groups = None if units is None else UNIT
    (split,) = split_records(splitter, sub, groups=groups, dev=recipe.dev or 0, seed=recipe.seed)
    why = "parts drawn anew" + ("" if units is None else f", whole groups by {units.by}")
    return draft.moved(rows, split.parts, why), split.certificate


def _undivided(draft: Draft, units: Units | None) -> Dataset:
    """The active rows as a dataset with their units, each named by its first id, as the only attribute."""
    rows = draft.active
    table = draft.data.table.select(["id", "text", "label"]).take(pa.array(rows))
    if units is None:
        return Dataset(draft.data.name, table, draft.data.label_names)
    first, group = np.unique(units.codes, return_index=True, return_inverse=True)[1:]
    named = np.array(names_of(draft.data, rows), dtype=object)[first[group.reshape(-1)]]
    table = table.append_column(UNIT, pa.array(named, type=pa.large_string()))
    return Dataset(draft.data.name, table, draft.data.label_names, (UNIT,))


def on_both_sides(draft: Draft, units: Units, recipe: RepairRecipe) -> int:
    """Values of the grouping attributes, and groups of texts that stay together, with rows on both sides.

    Attributes are read afresh and counted on the final parts: borders that were fixed before a shuffle prove nothing.
    """
    numberings = [
        values(draft.data, draft.active, attribute, attribute in recipe.links)[0] for attribute in recipe.groups
    ]
    if recipe.together:
        numberings.append(units.codes)
    tested = draft.tested
    return sum(len(np.intersect1d(codes[tested], codes[~tested])) for codes in numberings)


def cap_rows(draft: Draft, cap: int, by: str, parts: str, seed: int = 42) -> Draft:
    """The draft with at most `cap` rows per value of `by` and class; which rows stay is drawn at random.

    `parts` is `train`, for that part alone, or `all`, for all rows together. Rows without a value are not capped.
    """
    rows = draft.active
    if parts == "train":
        rows = rows[draft.parts[rows] == TRAIN]
    if not len(rows):
        return draft
    codes, missing = values(draft.data, rows, by)
    cells = np.unique(codes, return_inverse=True)[1].reshape(-1) * len(draft.data.label_names) + draft.data.labels[rows]
    over = ~within_cap(cells, cap, generator(seed, "cap"))
    capped = draft.dropped(rows[over], f"over the cap of {cap} rows per {by} and class")
    return capped.noted(f"{missing:,} rows have no {by} and were not capped") if missing and over.any() else capped
