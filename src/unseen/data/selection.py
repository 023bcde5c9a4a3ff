"""Which rows of a source become rows of a dataset, and what is wrong with the others."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.ids import repeats
from unseen.data.labels import Declared, in_order, is_blank
from unseen.data.rows import Rows
from unseen.data.spellings import DOUBTS, FEWEST
from unseen.errors import SHOWN_PROBLEMS, InputError, TableError, UnknownNameError, nearest_name
from unseen.types import some

REFUSED = ("unlabelled", "undeclared", "empty", "duplicates")
"""Rows that are refused unless they are left out: without label, with a label that is not declared, without text,
with the id of an earlier row."""
DROPPABLE = ("unlabelled", "undeclared", "placeholders", "several", "empty", "duplicates", "rare")
"""Rows that can be left out: these, and rows whose label `unseen.data.spellings` doubts. Each row counts once, under
the first that holds."""
DOUBTED = tuple(word for word in DROPPABLE if word not in REFUSED)

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Candidates:
    """Rows with the columns that decide whether they can be used."""

    rows: Rows
    texts: pa.ChunkedArray
    labels: pa.ChunkedArray
    """Values of the source as strings; null without a label."""
    ids: pa.ChunkedArray | None
    declared: Declared | None

    def found(self, reason: str) -> Mask:
        """The rows that `reason` is about."""
        if reason == "unlabelled":
            return _mask(self.labels.is_null())
        if reason == "empty":
            return _mask(is_blank(self.texts))
        if reason == "undeclared" and self.declared:
            known = pa.array(self.declared.raw, type=self.labels.type)
            return _mask(pc.and_not(self.labels.is_valid(), pc.is_in(self.labels, value_set=known)))
        if reason in DOUBTS:
            names = self.labels.unique().drop_null().to_pylist()
            doubted = pa.array(DOUBTS[reason][0](names), type=self.labels.type)
            return _mask(pc.is_in(self.labels, value_set=doubted))
        return np.zeros(len(self.texts), dtype=bool)

    def rare(self, keep: Mask) -> Mask:
        """The rows to keep whose label few of them have."""
        codes = self.labels.dictionary_encode().combine_chunks().indices.fill_null(-1).to_numpy()
        counts = np.bincount(codes[keep & (codes >= 0)], minlength=codes.max(initial=0) + 1)
        return keep & (codes >= 0) & (counts[codes] < FEWEST)

    def described(self, reason: str, positions: npt.NDArray[np.intp]) -> str:
        """One problem: what is wrong with these rows, and where they are."""
        if reason == "undeclared":
            values = pc.value_counts(self.labels.take(pa.array(positions))).to_pylist()
            said = ", ".join(f"{each['values']!r} {each['counts']}" for each in values[:SHOWN_PROBLEMS])
            more = f", … and {len(values) - SHOWN_PROBLEMS} more" if len(values) > SHOWN_PROBLEMS else ""
            places = self.rows.places(positions)
            return f"{_rows(positions)} labels that are not declared: {said}{more}; {places}"
        if reason == "duplicates":
            return f"{_rows(positions)} the id of an earlier row: {self._repeated_ids(positions)}"
        what = {"unlabelled": "no label", "empty": "no text"}[reason]
        return f"{_rows(positions)} {what}: {self.rows.places(positions)}"

    def _repeated_ids(self, positions: npt.NDArray[np.intp]) -> str:
        assert self.ids is not None
        names = self.ids.take(pa.array(positions[:SHOWN_PROBLEMS])).unique().to_pylist()
        places = {name: np.flatnonzero(_mask(pc.equal(self.ids, name)))[:SHOWN_PROBLEMS].tolist() for name in names}
        lines = self.rows.numbers(each for some_rows in places.values() for each in some_rows)
        kind = "lines" if self.rows.lines else "rows"
        return "; ".join(f"{name!r} on {kind} {some(lines[each] for each in places[name])}" for name in names)


def check_drop(drop: Collection[str], declares: bool, has_ids: bool) -> tuple[str, ...]:
    """`drop` in the order it is applied; refuses unknown words and those that could have no effect."""
    words = (drop,) if isinstance(drop, str) else tuple(drop)
    for word in words:
        if word not in DROPPABLE:
            raise UnknownNameError.of("reason to drop rows", str(word), DROPPABLE)
    if doubted := [word for word in words if word in DOUBTED and declares]:
        raise InputError(
            f"drop={doubted!r} is about labels that are found, but they are declared",
            fix="leave the labels out that you do not want, and drop=['undeclared']",
        )
    if "undeclared" in words and not declares:
        raise InputError("drop='undeclared' has no effect without labels", fix="declare the labels to keep: labels=…")
    if "duplicates" in words and not has_ids:
        raise InputError(
            "drop='duplicates' has no effect without an id column",
            fix="name the column with id=…; it is about equal ids, not about equal texts",
        )
    return tuple(word for word in DROPPABLE if word in words)


def select(candidates: Candidates, drop: Collection[str]) -> tuple[Mask, dict[str, int]]:
    """The rows to keep and how many were dropped for each reason; refuses with every problem at once."""
    keep = np.ones(len(candidates.texts), dtype=bool)
    dropped, problems, at_fault = {}, [], []
    for reason in DROPPABLE:
        if reason in DOUBTED and reason not in drop:
            continue
        found = _found(candidates, reason, keep)
        if reason in drop:
            keep &= ~found
            dropped[reason] = int(found.sum())
        elif found.any():
            problems.append(candidates.described(reason, np.flatnonzero(found)))
            at_fault.append(reason)
    if candidates.ids is not None and candidates.ids.null_count:
        nameless = np.flatnonzero(_mask(candidates.ids.is_null()) & keep)
        if len(nameless):
            problems.append(f"{_rows(nameless)} no id: {candidates.rows.places(nameless)}")
    problems += _class_problems(candidates, keep)
    if problems:
        raise _refusal(candidates.rows.title, problems, at_fault)
    return keep, dropped


def _found(candidates: Candidates, reason: str, keep: Mask) -> Mask:
    """The rows, of those that are kept so far, that `reason` is about."""
    if reason == "duplicates":
        return _duplicates(candidates.ids, keep)
    return candidates.rare(keep) if reason == "rare" else candidates.found(reason) & keep


def _duplicates(ids: pa.ChunkedArray | None, keep: Mask) -> Mask:
    found = np.zeros(len(keep), dtype=bool)
    if ids is not None:
        found[keep] = repeats(ids if keep.all() else ids.filter(pa.array(keep)))
    return found


def _class_problems(candidates: Candidates, keep: Mask) -> list[str]:
    """Declared labels without rows, or too few labels to tell apart."""
    if not keep.any():
        return [f"no rows are left of {len(keep)}" if len(keep) else "there are column names, but no rows"]
    labels = candidates.labels if keep.all() else candidates.labels.filter(pa.array(keep))
    found = labels.unique().drop_null().to_pylist()
    if candidates.declared is None:
        return [f"only one label occurs: {found[0]!r}"] if len(found) == 1 else []
    used = {candidates.declared.raw.get(value) for value in found}
    return [
        f"no row has the declared label {name!r}{_hint(candidates.declared, name, found)}"
        for name in candidates.declared.names
        if name not in used
    ]


def _hint(declared: Declared, name: str, found: list[str]) -> str:
    strange = [value for value in found if value not in declared.raw]
    near = nearest_name(name, strange)
    return (
        f"; did you mean {near!r}?" if near else f"; the labels are {some(map(repr, in_order(found)), SHOWN_PROBLEMS)}"
    )


def _refusal(title: str, problems: list[str], at_fault: list[str]) -> TableError:
    return TableError(
        f"{title} cannot be used as it is",
        problems=problems,
        expected="rows of two or more labels, every row with a text, a label and an id of its own",
        fix="correct the data" + (f", or leave these rows out: drop={at_fault!r}" if at_fault else " or the arguments"),
    )


def _rows(positions: npt.NDArray[Any]) -> str:
    return f"{len(positions)} row has" if len(positions) == 1 else f"{len(positions)} rows have"


def _mask(column: pa.ChunkedArray) -> Mask:
    return np.asarray(column.to_numpy(), dtype=bool)
