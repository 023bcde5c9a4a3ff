"""What a splitter has to solve: rows in units that stay whole, classes, and a quota per class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InfeasibleError, InputError
from unseen.splits.quotas import Mix, nearest_quotas, quotas, rows_asked
from unseen.splits.selection import Counts, Selection, choose_nearest
from unseen.types import Certificate, some
from unseen.types.arrays import Codes, Keys, Mask, Rows


@dataclass(frozen=True, eq=False)
class Choice:
    """The rows chosen for the test part, each row's cluster (-1: none), and what is known about them."""

    test: Mask
    clusters: npt.NDArray[np.int32]
    certificate: Certificate
    dev: Mask | None = None
    """Rows of a development part that was given with the split."""
    unused: Mask | None = None
    """Rows that belong to neither side."""

    @classmethod
    def given(
        cls, test: Mask, y: Any, notes: tuple[str, ...] = (), dev: Mask | None = None, unused: Mask | None = None
    ) -> Choice:
        """The choice of a test part that was given, not searched for."""
        return cls(test, np.full(len(test), -1, np.int32), given_certificate(test, y, notes), dev, unused)

    @property
    def train(self) -> Mask:
        """The rows of the other side, development rows included."""
        return ~self.test if self.unused is None else ~self.test & ~self.unused

    def amended(self, *notes: str, **changes: Any) -> Choice:
        """The same with further notes in its certificate, and other changes of it."""
        notes = (*self.certificate.notes, *notes)
        return replace(self, certificate=replace(self.certificate, notes=notes, **changes))


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to divide. Without groups every row is a unit of its own."""

    codes: Rows
    """Class of each row. Classes are numbered by size, so that their names decide nothing."""
    class_names: tuple[str, ...]
    quota: Counts
    """Test rows asked for, per class."""
    units: Rows
    """Unit of each row."""
    group_names: tuple[str, ...] | None
    """Name of each unit; None without groups."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self) if self.group_names is None else len(self.group_names)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per unit."""
        return np.bincount(self.units, minlength=self.n_units)

    @cached_property
    def unit_counts(self) -> Counts:
        """Rows per unit and class."""
        return self.counts(np.arange(self.n_units), self.n_units)

    def counts(self, labels: npt.NDArray[Any], k: int) -> Counts:
        """Rows per cluster and class, when each unit has a cluster label."""
        classes = len(self.class_names)
        flat = np.bincount(labels[self.units].astype(np.int64) * classes + self.codes, minlength=k * classes)
        return flat.reshape(k, classes)

    def of_class(self, code: int) -> Problem:
        """The problem of one class's rows; there must be no groups."""
        n = int((self.codes == code).sum())
        return Problem(np.zeros(n, np.intp), (self.class_names[code],), self.quota[[code]], np.arange(n), None)

    def rows_in(self, chosen: Mask) -> Mask:
        """Rows of the chosen units."""
        return chosen[self.units]

    def class_counts(self, chosen: Mask) -> Counts:
        """Rows per class in the chosen units."""
        return np.bincount(self.codes[self.rows_in(chosen)], minlength=len(self.class_names))

    def fill(self, room: Counts, order: Rows) -> Selection:
        """Units, preferably early in `order` and only from it, that fill `room` as nearly as possible."""
        if self.group_names is None:
            return self._fill_rows(room, order)
        picked = choose_nearest(self.unit_counts[order], room, np.arange(len(order)))
        chosen = np.zeros(self.n_units, bool)
        chosen[order[picked.chosen]] = True
        return Selection(chosen, picked.missed, picked.missed_at_least)

    def _fill_rows(self, room: Counts, order: Rows) -> Selection:
        chosen = np.zeros(len(self), bool)
        codes = self.codes[order]
        for code, most in enumerate(room):
            chosen[order[np.flatnonzero(codes == code)[:most]]] = True
        missed = int(room.sum() - chosen.sum())
        return Selection(chosen, missed, missed)

    def choice(self, chosen: Mask, clusters: Codes | None = None, **proof: Any) -> Choice:
        """The choice of these units, with what is proven about it; refuses a test part that lacks a class.

        `clusters` are those of the units; -1 without.
        """
        got = self.class_counts(chosen)
        self._check_reached(got)
        by_name = sorted(range(len(self.class_names)), key=lambda code: self.class_names[code])
        groups = None
        if self.group_names is not None:
            groups = {"count": self.n_units, "largest": int(self.sizes.max()), "on_both_sides": 0}
        certificate = Certificate(
            asked={self.class_names[code]: int(self.quota[code]) for code in by_name},
            got={self.class_names[code]: int(got[code]) for code in by_name},
            groups=groups,
            **proof,
        )
        clusters = np.full(self.n_units, -1) if clusters is None else clusters
        return Choice(self.rows_in(chosen), clusters[self.units].astype(np.int32), certificate)

    def _check_reached(self, got: Counts) -> None:
        lacking = [name for name, has, want in zip(self.class_names, got, self.quota, strict=True) if want and not has]
        if not lacking or self.group_names is None:
            return
        raise InfeasibleError(
            f"whole groups cannot give a test part of {int(self.quota.sum())} rows",
            expected=f"groups small enough to give test rows of {some(lacking)}",
            got=self.largest_groups(),
            fix="ask for a larger test part, or divide the largest groups by a finer attribute",
        )

    def largest_groups(self) -> str | None:
        """The largest groups by name and size, for a message; None without groups."""
        if self.group_names is None:
            return None
        names = self.group_names
        big = np.argsort(-self.sizes, kind="stable")[:3]
        largest = ", ".join(f"{names[unit]!r} ({self.sizes[unit]} rows)" for unit in big)
        return f"{self.n_units} groups, the largest: {largest}"


def pose(
    y: Any,
    groups: Any,
    n: int,
    *,
    test_size: float,
    mix: Mix = None,
    stratify: bool = True,
    keys: Keys | None = None,
    every_class: bool = True,
) -> Problem:
    """The problem for `n` rows with classes `y` and groups `groups`; both may be None.

    Without `every_class` a part that is too small for a row of each comes as near to the mix as it can.
    """
    if not stratify and mix is not None:
        raise InputError("mix has no effect with stratify=False", fix="leave one of them out")
    rows = rows_asked(test_size, n)
    codes, names = _classes(y if stratify else None, n, keys)
    counts = np.bincount(codes, minlength=len(names))
    if len(names) == 1:
        quota = np.array([rows], dtype=np.int64)
    else:
        quota = quotas(counts, rows, names, mix) if every_class else nearest_quotas(counts, rows)
    units, group_names = _units(groups, n)
    if group_names is not None and len(group_names) < 2:
        raise InfeasibleError("all rows are in one group", got=f"group {group_names[0]!r}", fix="use a finer attribute")
    return Problem(codes, names, quota, units, group_names)


def given_certificate(test: Mask, y: Any, notes: tuple[str, ...] = ()) -> Certificate:
    """The certificate of a test part that was given, not searched for."""
    labels: npt.NDArray[Any] = np.zeros(len(test), int) if y is None else np.asarray(y)
    if len(labels) != len(test):
        raise InputError("y has another length", expected=f"{len(test)} values", got=f"{len(labels)}")
    got = {str(name): int((labels[test] == name).sum()) for name in np.unique(labels)}
    got = {"all": int(test.sum())} if y is None else got
    return Certificate(asked=dict(got), got=got, notes=notes)


def column(values: Any, n: int, name: str) -> npt.NDArray[Any]:
    """`values` as a flat array with one entry per row."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name} must have one value per row", got=f"an array of shape {array.shape}")
    if len(array) != n:
        raise InputError(f"{name} has another length", expected=f"{n} values, one per row", got=f"{len(array)}")
    return array


def _classes(y: Any, n: int, keys: Keys | None) -> tuple[Rows, tuple[str, ...]]:
    """Class per row, numbered by size; equal sizes by the content of their rows, never by name."""
    if y is None:
        return np.zeros(n, np.intp), ("all",)
    names, codes = np.unique(_filled(column(y, n, "y"), "label"), return_inverse=True)
    keys = np.arange(n, dtype=np.uint64) if keys is None else keys
    sums = np.zeros(len(names), np.uint64)
    np.add.at(sums, codes, keys)
    counts = np.bincount(codes)
    order = np.lexsort((sums, -counts))
    return np.argsort(order)[codes], tuple(str(names[code]) for code in order)


def _units(groups: Any, n: int) -> tuple[Rows, tuple[str, ...] | None]:
    if groups is None:
        return np.arange(n), None
    values = _filled(column(groups, n, "groups"), "group", fix="give each of them a group of its own")
    names, units = np.unique(values.astype(str), return_inverse=True)
    return units, tuple(names.tolist())


def _filled(values: npt.NDArray[Any], what: str, fix: str | None = None) -> npt.NDArray[Any]:
    """The values, after refusing rows that have none."""
    missing = np.zeros(len(values), bool)
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in values], dtype=bool)
    if missing.any():
        rows = some(np.flatnonzero(missing))
        raise InputError(f"{int(missing.sum())} rows have no {what}", got=f"rows {rows}", fix=fix)
    return values
