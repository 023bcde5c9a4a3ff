"""Which rows mention which group: by an attribute of the data, or by words in the texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.bias.terms import Finder, checked_terms
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.measuring import unit_codes
from unseen.types import Dataset, frozen, some

Mask = npt.NDArray[np.bool_]


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

    def of_rows(self, data: Dataset, rows: npt.NDArray[np.intp]) -> Mask:
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
        for each in dict.fromkeys(value if isinstance(value, list) else [value]):
            if each is not None and each != "":
                places.setdefault(str(each), []).append(row)
    names = sorted(places)
    members = np.zeros((len(data), len(names)), bool)
    for column, name in enumerate(names):
        members[places[name], column] = True
    return _counting(attribute, names, members, fewest, only)


def groups_by_terms(
    data: Dataset,
    terms: Mapping[str, Sequence[str]] | Sequence[str],
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
        for each in listed:
            groups_of.setdefault(each, []).append(column)
    finder, columns = Finder(list(groups_of)), list(groups_of.values())
    members = np.zeros((len(data), len(named)), bool)
    row = 0
    for (texts,) in data.batches("text"):
        for text in texts:
            for term in finder.found(text):
                members[row, columns[term]] = True
            row += 1
    return _counting("term", list(named), members, fewest, only)


def drawn_together(data: Dataset, rows: npt.NDArray[np.intp], units: str | None) -> npt.NDArray[np.intp]:
    """Which unit of the bootstrap each of `rows` is, counted from 0: a value of the attribute `units`, or itself.

    A row without a value, or with an empty one, is a unit of its own: texts of unknown authors are not of one author.
    """
    if units is None:
        return np.arange(len(rows))
    return np.unique(unit_codes(data.attribute(units))[rows], return_inverse=True)[1].reshape(-1)


def _counting(grouping: str, names: list[str], members: Mask, fewest: int, only: Sequence[str] | None) -> Groups:
    """The groups that are wanted and large enough; refuses to be left with none."""
    if fewest < 1:
        raise InputError("fewest must be at least 1", got=str(fewest))
    for each in only or ():
        if each not in names:
            raise UnknownNameError.of(f"group of {grouping!r}", each, names)
    wanted = list(dict.fromkeys(only)) if only else names
    sizes = dict(zip(names, members.sum(axis=0).tolist(), strict=True))
    kept = [name for name in wanted if sizes[name] >= fewest]
    if not kept:
        raise InputError(
            f"no group of {grouping!r} has {fewest} rows",
            got=some([f"{name}: {sizes[name]}" for name in wanted]) or "no value in any row",
            fix="a smaller fewest, another attribute, or other terms",
        )
    return Groups(grouping, tuple(kept), members[:, [names.index(name) for name in kept]])
