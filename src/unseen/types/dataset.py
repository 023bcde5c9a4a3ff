"""Labelled texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, UnknownNameError
from unseen.types.arrays import ROWS_AT_ONCE, bounded, frozen, is_text, refuse_repeats
from unseen.types.origin import Origin


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled texts. The order of labels is declared, not observed."""

    name: str
    table: pa.Table
    """Columns `id`, `text`, `label` (dictionary in the order of `label_names`), then the attributes."""
    label_names: tuple[str, ...]
    attributes: tuple[str, ...] = ()
    """Metadata columns; a multi-valued one holds lists of strings."""
    origin: Origin = field(default_factory=lambda: Origin("given"))
    left_out: frozenset[str] = frozenset()
    """Ids of rows that the source has and that were dropped when it was loaded: splits may still name them."""
    places: npt.NDArray[np.int64] | None = None
    """Where each row stands in the source, from 1, or 0 where nobody knows; no part of the fingerprint."""
    on_lines: bool = False
    """Whether `places` are lines of a file, not rows of a table."""

    def __post_init__(self) -> None:
        columns = ["id", "text", "label", *self.attributes]
        if self.table.column_names != columns:
            raise InputError("a Dataset's columns are wrong", expected=str(columns), got=str(self.table.column_names))
        for name, right in (("id", is_text), ("text", is_text), ("label", pa.types.is_dictionary)):
            if not right(self.table.schema.field(name).type):
                raise InputError(f"the column {name!r} has the wrong type", got=str(self.table.schema.field(name).type))
            if self.table[name].null_count:
                raise InputError(f"{self.table[name].null_count} rows have no {name}")
        if len(set(self.label_names)) < len(self.label_names):
            raise InputError("label names repeat", got=str(self.label_names))
        refuse_repeats(self.ids)
        if self.places is not None and len(self.places) != len(self):
            raise InputError("a Dataset needs one place per row", expected=str(len(self)), got=str(len(self.places)))
        for chunk in self.table["label"].chunks:
            if tuple(chunk.dictionary.to_pylist()) != self.label_names:
                raise InputError("the label column does not use the declared label names")

    def __len__(self) -> int:
        return int(self.table.num_rows)

    @property
    def ids(self) -> pa.ChunkedArray:
        """Identifiers, in row order."""
        return self.table["id"]

    @cached_property
    def by_id(self) -> npt.NDArray[np.intp]:
        """Row positions in the order of the ids, for work that the order of rows must not decide."""
        return frozen(pc.sort_indices(self.ids).to_numpy(), np.intp)

    @cached_property
    def order(self) -> str:
        """Hash of the ids in their row order: equal for two datasets whose rows stand in the same places."""
        digest = hashlib.sha256()
        for (ids,) in self.batches("id"):
            digest.update("".join(f"{len(name)}:{name}" for name in ids).encode())
        return digest.hexdigest()[:32]

    @property
    def texts(self) -> pa.ChunkedArray:
        """Texts, in row order."""
        return self.table["text"]

    def texts_by_id(self) -> list[str]:
        """The texts as models read them, in the order of the ids; warns of those that are cut."""
        rows = pa.array(self.by_id)
        return bounded(self.texts.take(rows).to_pylist(), self.ids.take(rows).to_pylist())

    @cached_property
    def labels(self) -> npt.NDArray[np.int32]:
        """Position of each row's label in `label_names`."""
        chunks = [chunk.indices.to_numpy(zero_copy_only=False) for chunk in self.table["label"].chunks]
        return frozen(np.concatenate(chunks) if chunks else np.empty(0), np.int32)

    @cached_property
    def label_counts(self) -> dict[str, int]:
        """Rows per label, in declared order."""
        counts = np.bincount(self.labels, minlength=len(self.label_names))
        return dict(zip(self.label_names, counts.tolist(), strict=True))

    def attribute(self, name: str) -> pa.ChunkedArray:
        """The column of one attribute."""
        if name not in self.attributes:
            raise UnknownNameError.of(
                "attribute", name, self.attributes, fix=f"name the column when loading: attributes=[{name!r}]"
            )
        return self.table[name]

    def batches(self, *columns: str) -> Iterator[tuple[list[Any], ...]]:
        """The named columns as Python lists, some thousand rows at a time."""
        for batch in self.table.select(columns).to_batches(max_chunksize=ROWS_AT_ONCE):
            yield tuple(column.to_pylist() for column in batch.columns)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """The dataset of these row positions, in this order."""
        positions = np.asarray(rows)
        if len(positions) and positions.dtype.kind not in "iu":
            raise InputError("take needs row positions", got=f"dtype {positions.dtype}", fix="numpy.flatnonzero(mask)")
        positions = positions.astype(np.int64)
        places = None if self.places is None else self.places[positions]
        return replace(self, table=self.table.take(pa.array(positions)), places=places)

    def longer(self, table: pa.Table) -> Dataset:
        """The dataset with further rows at the end of its table; they stand nowhere in the source."""
        unknown = np.zeros(len(table) - len(self), np.int64)
        places = None if self.places is None else np.concatenate([self.places, unknown])
        return replace(self, table=table, places=places)

    def place(self, row: int) -> str:
        """Where the row at this position stands in its source: `line 17` or `row 17`, nothing where nobody knows."""
        number = 0 if self.places is None else int(self.places[row])
        return f"{'line' if self.on_lines else 'row'} {number}" if number else ""

    def places_of(self, ids: Sequence[str]) -> dict[str, str]:
        """The place of each of these ids."""
        if self.places is None or not ids:
            return dict.fromkeys(ids, "")
        rows = pc.index_in(pa.array(ids, self.ids.type), value_set=self.ids.combine_chunks()).to_pylist()
        return {name: "" if row is None else self.place(row) for name, row in zip(ids, rows, strict=True)}

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of ids, texts and labels; the order of rows and the attributes do not matter."""
        total = 0
        for ids, texts, labels in self.batches("id", "text", "label"):
            for name, text, label in zip(ids, texts, labels, strict=True):
                # lengths first: no character separates fields that may hold any character
                row = f"{len(name)}:{len(text)}:{name}{text}{label}".encode()
                total += int.from_bytes(hashlib.blake2b(row, digest_size=16).digest(), "big")
        names = "".join(f"{len(name)}:{name}" for name in self.label_names).encode()
        return hashlib.sha256(names + (total % 2**128).to_bytes(16, "big")).hexdigest()[:32]
