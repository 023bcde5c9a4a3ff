"""Which rows mention which group: by an attribute of the data, or by words in the texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unseen.bias.terms import Finder, Terms, checked_terms
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.bootstrap import group_numbers
from unseen.evaluation.measurements import groups_of_rows
from unseen.types import Dataset, frozen, some
from unseen.types.arrays import Mask, Rows


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups and the rows that mention them; a row may mention several, or none."""

    grouping: str
    """Where the groups come from: the name of the attribute, or `term`."""
    names: tuple[str, ...]
    members: Mask
    """[rows of the data, groups]"""

    def __post_init__(self) -> None:
        if self.members.ndim != 2 or self.members.shape[1] != len(self.names):
            raise InputError(
                "groups need a column per name", expected=f"[rows, {len(self.names)}]", got=str(self.members.shape)
            )
        if len(set(self.names)) < len(self.names):
            raise InputError("names of groups repeat", got=some(self.names))
        object.__setattr__(self, "members", frozen(self.members, np.bool_))

    @property
    def slices(self) -> tuple[str, ...]:
        """The name of each group's slice."""
        return tuple(f"{self.grouping}={name}" for name in self.names)

    def of_rows(self, data: Dataset, rows: Rows) -> Mask:
        """The members among `rows`; refuses groups of other data."""
        if len(self.members) != len(data):
            raise InputError("the groups are of other data", expected=f"{len(data)} rows", got=f"{len(self.members)}")
        return self.members[rows]


def groups_by_attribute(data: Dataset, attribute: str, *, fewest: int = 1, only: Sequence[str] | None = None) -> Groups:
    """A group per value of an attribute, which may hold one value per row or a list; no value is no group.

    A group counts with at least `fewest` rows in `data`. `only` names the groups to keep, in this order: which
    groups there are decides what the background `mentioned` is.
    """
    places: dict[str, list[int]] = {}
    for row, value in enumerate(data.attribute(attribute).to_pylist()):
        for name in dict.fromkeys(value if isinstance(value, list) else [value]):
            if name is not None and name != "":
                places.setdefault(str(name), []).append(row)
    names = sorted(places)
    members = np.zeros((len(data), len(names)), bool)
    for column, name in enumerate(names):
        members[places[name], column] = True
    return _large_enough(attribute, names, members, fewest, only)


def groups_by_terms(
    data: Dataset,
    terms: Terms,
    *,
    fewest: int = 1,
    only: Sequence[str] | None = None,
) -> Groups:
    """A group per list of terms, or per term of a plain list: the rows whose text holds one of them.

    Misleads where a word has other meanings: a colour is not a group of people.
    """
    named = checked_terms(terms)
    groups_of: dict[str, list[int]] = {}
    for column, listed in enumerate(named.values()):
        for term in listed:
            groups_of.setdefault(term, []).append(column)
    finder, columns = Finder(list(groups_of)), list(groups_of.values())
    members = np.zeros((len(data), len(named)), bool)
    row = 0
    for (texts,) in data.batches("text"):
        for text in texts:
            for number in finder.terms_in(text):
                members[row, columns[number]] = True
            row += 1
    return _large_enough("term", list(named), members, fewest, only)


def drawn_together(data: Dataset, rows: Rows, units: str | None) -> Rows:
    """Which unit of the bootstrap each of `rows` is, counted from 0: a value of the attribute `units`, or itself.

    A row without a value, or with an empty one, is a unit of its own: texts of unknown authors are not of one author.
    """
    return group_numbers(groups_of_rows(data, rows, units), len(rows))


def _large_enough(grouping: str, names: list[str], members: Mask, fewest: int, only: Sequence[str] | None) -> Groups:
    """The groups that are asked for and large enough; refuses to be left with none."""
    if fewest < 1:
        raise InputError("fewest must be at least 1", got=str(fewest))
    for name in only or ():
        if name not in names:
            raise UnknownNameError.of(f"group of {grouping!r}", name, names)
    asked = list(dict.fromkeys(only)) if only else names
    sizes = dict(zip(names, members.sum(axis=0).tolist(), strict=True))
    kept = [name for name in asked if sizes[name] >= fewest]
    if not kept:
        raise InputError(
            f"no group of {grouping!r} has {fewest} rows",
            got=some([f"{name}: {sizes[name]}" for name in asked]) or "no value in any row",
            fix="a smaller fewest, another attribute, or other terms",
        )
    return Groups(grouping, tuple(kept), members[:, [names.index(name) for name in kept]])
