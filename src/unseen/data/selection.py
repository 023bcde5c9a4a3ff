"""Which rows of a source become rows of a dataset, what is wrong with the others, and ids for rows that have none."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import STRINGS, is_blank, slices
from unseen.data.labels import DOUBTS, FEWEST, Declared, in_order, label_counts, variants
from unseen.data.rows import Rows
from unseen.errors import SHOWN_PROBLEMS, InputError, TableError, UnknownNameError, UnseenWarning, nearest_name
from unseen.types import ROWS_AT_ONCE, as_names, some

DIGITS = 16
REFUSED = ("unlabelled", "undeclared", "empty", "duplicates")
"""Rows that are refused unless they are left out: without label, with a label that is not declared, without text,
with the id of an earlier row."""
DROPPABLE = ("unlabelled", "undeclared", "placeholders", "several", "empty", "duplicates", "rare")
"""Rows that can be left out: these, and rows whose label `unseen.data.labels` doubts. Each row counts once, under
the first that holds."""
DOUBTED = tuple(word for word in DROPPABLE if word not in REFUSED)
Mask = npt.NDArray[np.bool_]


def made_ids(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """First 16 hex digits of each text's SHA-256; then "-2", "-3"… in the second, third… row of a text."""
    keys = np.empty(len(texts), dtype=np.dtype(">u8"))
    start = 0
    for part in slices(texts):
        digests = [hashlib.sha256(text).digest()[:8] for text in part.cast(pa.large_binary()).to_pylist()]
        keys[start : start + len(part)] = np.frombuffer(b"".join(digests), dtype=">u8")
        start += len(part)
    occurrences = _occurrences(keys.astype(np.uint64))
    return pa.chunked_array(list(_names(keys, occurrences)), type=STRINGS)


def _occurrences(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """How often each key has occurred up to its row, itself included."""
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[order[1:]] != keys[order[:-1]]
    occurrences = np.empty(len(keys), dtype=np.int64)
    occurrences[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return occurrences


def _names(keys: npt.NDArray[Any], occurrences: npt.NDArray[np.int64]) -> Iterator[pa.Array]:
    for start in range(0, len(keys), ROWS_AT_ONCE):
        part, repeats = keys[start : start + ROWS_AT_ONCE], occurrences[start : start + ROWS_AT_ONCE]
        offsets = np.arange(len(part) + 1, dtype=np.int64) * DIGITS
        digits = part.tobytes().hex().encode("ascii")
        names = pa.LargeStringArray.from_buffers(len(part), pa.py_buffer(offsets), pa.py_buffer(digits))
        again = repeats > 1
        if again.any():
            pairs = zip(names.filter(pa.array(again)).to_pylist(), repeats[again].tolist(), strict=True)
            suffixed = pa.array([f"{name}-{count}" for name, count in pairs], type=STRINGS)
            names = pc.replace_with_mask(names, pa.array(again), suffixed)
        yield names


def repeats(ids: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """True for each row whose id is that of an earlier row; rows without an id are never meant."""
    repeated = np.zeros(len(ids), dtype=bool)
    if pc.count_distinct(ids).as_py() == len(ids) - ids.null_count:
        return repeated
    codes = ids.dictionary_encode().combine_chunks().indices
    rows = np.flatnonzero(codes.is_valid().to_numpy(zero_copy_only=False))
    _, first = np.unique(codes.drop_null().to_numpy(), return_index=True)
    repeated[rows] = True
    repeated[rows[first]] = False
    return repeated


@dataclass(frozen=True)
class Candidates:
    """Rows with the columns that decide whether they can be used."""

    rows: Rows
    texts: pa.ChunkedArray
    labels: pa.ChunkedArray
    """Values of the source as strings; null without a label."""
    ids: pa.ChunkedArray | None
    declared: Declared | None

    def mask(self, reason: str, keep: Mask) -> Mask:
        """The rows, of those that are kept so far, that `reason` is about."""
        if reason == "duplicates":
            return self._duplicates(keep)
        if reason == "rare":
            return self._rare(keep)
        if reason == "unlabelled":
            return _mask(self.labels.is_null()) & keep
        if reason == "empty":
            return _mask(is_blank(self.texts)) & keep
        if reason == "undeclared" and self.declared:
            known = pa.array(self.declared.raw, type=self.labels.type)
            return _mask(pc.and_not(self.labels.is_valid(), pc.is_in(self.labels, value_set=known))) & keep
        if reason in DOUBTS:
            doubtful_names, _ = DOUBTS[reason]
            doubtful = pa.array(doubtful_names(_distinct(self.labels)), type=self.labels.type)
            return _mask(pc.is_in(self.labels, value_set=doubtful)) & keep
        return np.zeros(len(keep), dtype=bool)

    def _duplicates(self, keep: Mask) -> Mask:
        mask = np.zeros(len(keep), dtype=bool)
        if self.ids is not None:
            mask[keep] = repeats(_kept(self.ids, keep))
        return mask

    def _rare(self, keep: Mask) -> Mask:
        """The rows to keep whose label few of them have."""
        codes = self.labels.dictionary_encode().combine_chunks().indices.fill_null(-1).to_numpy()
        counts = np.bincount(codes[keep & (codes >= 0)], minlength=codes.max(initial=0) + 1)
        return keep & (codes >= 0) & (counts[codes] < FEWEST)

    def problem(self, reason: str, positions: npt.NDArray[np.intp]) -> str:
        """What is wrong with these rows, and where they are."""
        if reason == "undeclared":
            counts = label_counts(self.labels.take(pa.array(positions)))
            values = [f"{value!r} {count}" for value, count in counts.items()]
            more = f", … and {len(values) - SHOWN_PROBLEMS} more" if len(values) > SHOWN_PROBLEMS else ""
            shown = ", ".join(values[:SHOWN_PROBLEMS]) + more
            return f"{_rows(positions)} labels that are not declared: {shown}; {self.rows.places(positions)}"
        if reason == "duplicates":
            return f"{_rows(positions)} the id of an earlier row: {self._repeated_ids(positions)}"
        what = {"unlabelled": "no label", "empty": "no text"}[reason]
        return f"{_rows(positions)} {what}: {self.rows.places(positions)}"

    def _repeated_ids(self, positions: npt.NDArray[np.intp]) -> str:
        assert self.ids is not None
        names = self.ids.take(pa.array(positions[:SHOWN_PROBLEMS])).unique().to_pylist()
        places = {name: np.flatnonzero(_mask(pc.equal(self.ids, name)))[:SHOWN_PROBLEMS].tolist() for name in names}
        lines = self.rows.numbers(row for rows in places.values() for row in rows)
        kind = "lines" if self.rows.lines else "rows"
        return "; ".join(f"{name!r} on {kind} {some(lines[row] for row in places[name])}" for name in names)

    def class_problems(self, keep: Mask) -> list[str]:
        """Too few labels, and declared ones without rows where rows have labels that are not declared; else a note."""
        if not keep.any():
            return [f"no rows are left of {len(keep)}" if len(keep) else "there are column names, but no rows"]
        values = _distinct(_kept(self.labels, keep))
        if self.declared is None:
            return [f"only one label occurs: {values[0]!r}"] if len(values) == 1 else []
        raw = self.declared.raw
        used, others = {raw.get(value) for value in values}, [value for value in values if value not in raw]
        labels = some(map(repr, in_order(values)), SHOWN_PROBLEMS)
        problems = []
        for name in (name for name in self.declared.names if name not in used):
            near = nearest_name(name, others)
            advice = f"did you mean {near!r}?" if near else f"the labels are {labels}"
            problems.append(f"no row has the declared label {name!r}; {advice}")
        if others:
            return problems
        for problem in problems:  # a part of the data need not have every label
            warnings.warn(problem, UnseenWarning, stacklevel=5)
        return []


def check_drop(drop: Collection[str], declares: bool, has_ids: bool) -> tuple[str, ...]:
    """`drop` in the order it is applied; refuses unknown words and those that could have no effect."""
    words = as_names(drop)
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
        mask = candidates.mask(reason, keep)
        if reason in drop:
            if reason == "rare":
                _warn_of_spellings(candidates, mask, keep)
            keep &= ~mask
            dropped[reason] = int(mask.sum())
        elif mask.any():
            problems.append(candidates.problem(reason, np.flatnonzero(mask)))
            at_fault.append(reason)
    if candidates.ids is not None and candidates.ids.null_count:
        nameless = np.flatnonzero(_mask(candidates.ids.is_null()) & keep)
        if len(nameless):
            problems.append(f"{_rows(nameless)} no id: {candidates.rows.places(nameless)}")
    problems += candidates.class_problems(keep)
    if problems:
        advice = f", or leave these rows out: drop={at_fault!r}" if at_fault else " or the arguments"
        raise TableError(
            f"{candidates.rows.title} cannot be used as it is",
            problems=problems,
            expected="rows of two or more labels, every row with a text, a label and an id of its own",
            fix=f"correct the data{advice}",
        )
    return keep, dropped


def _warn_of_spellings(candidates: Candidates, rare: Mask, keep: Mask) -> None:
    """Say which rare labels that are dropped are another spelling of a larger class."""
    rare_names = set(_distinct(candidates.labels.filter(pa.array(rare))))
    counts = label_counts(candidates.labels.filter(pa.array(keep)))
    spellings = {a: b for a, b in variants(counts).items() if a in rare_names}
    pairs = [f"{a!r} ({counts[a]:,}), which may be {b!r} ({counts[b]:,})" for a, b in spellings.items()]
    if pairs:
        what = f"{candidates.rows.title}: rare labels are dropped that differ from another only in spelling"
        warnings.warn(f"{what}: {some(pairs)}; to keep them: merge=True", UnseenWarning, stacklevel=4)


def _kept(column: pa.ChunkedArray, keep: Mask) -> pa.ChunkedArray:
    return column if keep.all() else column.filter(pa.array(keep))


def _distinct(column: pa.ChunkedArray) -> list[str]:
    return list(column.unique().drop_null().to_pylist())


def _rows(positions: npt.NDArray[Any]) -> str:
    return f"{len(positions)} row has" if len(positions) == 1 else f"{len(positions)} rows have"


def _mask(column: pa.ChunkedArray) -> Mask:
    return np.asarray(column.to_numpy(), dtype=bool)
