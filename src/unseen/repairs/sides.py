"""Groups on one side: by moving what leaks, or by drawing the parts anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InfeasibleError
from unseen.repairs.alike import alike, joined, values
from unseen.repairs.draft import DEV, TEST, TRAIN, UNDIVIDED, Draft, Rows, names_of
from unseen.repairs.recipe import Recipe
from unseen.splits.grouped import GroupedSplit
from unseen.splits.partition import Request, partition
from unseen.splits.random import RandomSplit
from unseen.types import Certificate, Dataset

UNIT = "unit"


@dataclass(frozen=True, eq=False)
class Units:
    """What stays on one side: a number per active row, and a name of what made them."""

    codes: Rows
    by: str
    notes: tuple[str, ...] = ()

    @property
    def largest(self) -> int:
        """Rows of the largest unit."""
        return int(np.bincount(self.codes).max(initial=0))


def units_of(draft: Draft, recipe: Recipe) -> Units:
    """The connected components of all grouping attributes and of the texts that stay together."""
    rows, groupings, names, notes = draft.active, [], [], []
    for attribute in recipe.groups:
        codes, missing = values(draft.data, rows, attribute, attribute in recipe.links)
        groupings.append(codes)
        names.append(f"{attribute} (links between rows)" if attribute in recipe.links else attribute)
        if missing:
            notes.append(f"{missing:,} rows have no {attribute}: each is a group of its own")
    if recipe.together:
        groupings.append(alike(draft.data, rows, recipe.together, recipe.seed))
        names.append(f"{recipe.together} duplicates")
    return Units(joined(groupings), " and ".join(names), tuple(notes))


def move_minimally(draft: Draft, units: Units, how: str, keep: str) -> Draft:
    """The draft in which no unit is on both sides, with as few changes as possible.

    `move`: the rows of a unit go to the side that holds most of it, at a tie to the one that `keep` names. `drop`: the
    side that `keep` names stays as it is, the other one loses its rows. Training and development rows are one side.
    """
    rows = draft.active
    tested = draft.parts[rows] == TEST
    n = int(units.codes.max(initial=-1)) + 1
    test, other = (np.bincount(units.codes[side], minlength=n) for side in (tested, ~tested))
    both = ((test > 0) & (other > 0))[units.codes]
    why = f"its group by {units.by} is on both sides"
    if how == "drop":
        return draft.dropped(rows[both & (tested != (keep == "test"))], why)
    to_test = ((test > other) | ((test == other) & (keep == "test")))[units.codes]
    wrong = both & (tested != to_test)
    to = np.where(to_test, TEST, TRAIN).astype(np.int8)
    return draft.moved(rows[wrong], to[wrong], f"{why}; most of it is on this one")


def with_both_sides(draft: Draft) -> Draft:
    """The draft itself; refuses one without training or without test rows."""
    left = draft.parts[draft.active]
    if (left == TEST).any() and np.isin(left, (TRAIN, DEV)).any():
        return draft
    raise InfeasibleError(
        "the repair leaves one side without rows",
        got=f"{int((left == TEST).sum())} test rows, {int(np.isin(left, (TRAIN, DEV)).sum())} training rows",
        fix="draw the parts anew (without minimal), keep the other side, or group by a finer attribute",
    )


def draw_anew(draft: Draft, units: Units | None, recipe: Recipe) -> tuple[Draft, Certificate]:
    """The draft with new training, development and test parts of whole units, and the proof of their sizes.

    Sizes are counted in rows that are still there; the class mix is theirs.
    """
    rows = draft.active
    sub = _undivided(draft, units)
    size: dict[str, Any] = {"test_size": recipe.test, "random_state": recipe.seed}
    splitter = RandomSplit(**size) if units is None else GroupedSplit(**size)
    request = Request(sub, None, None if units is None else UNIT, dev=recipe.dev or 0, seed=recipe.seed)
    (made,) = partition(request, splitter)
    why = "parts drawn anew" + ("" if units is None else f", whole groups by {units.by}")
    return draft.moved(rows, made.parts, why), made.certificate


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


def on_both_sides(draft: Draft, units: Units, recipe: Recipe) -> int:
    """Values of the grouping attributes, and groups of texts that stay together, with rows on both sides.

    Attributes are read afresh and counted on the final parts: borders that were fixed before a shuffle prove nothing.
    """
    rows = draft.active
    groupings = [values(draft.data, rows, each, each in recipe.links)[0] for each in recipe.groups]
    if recipe.together:
        groupings.append(units.codes)
    tested = draft.parts[rows] == TEST
    return sum(len(np.intersect1d(codes[tested], codes[~tested])) for codes in groupings)


def undivided(n: int) -> npt.NDArray[np.int8]:
    """Parts of rows that have none yet."""
    return np.full(n, UNDIVIDED, np.int8)
