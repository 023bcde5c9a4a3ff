"""Labelled texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InputError, UnknownNameError
from unseen.types.arrays import ROWS_AT_ONCE, frozen, is_text, refuse_repeats
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

    def __post_init__(self) -> None:
        wanted = ["id", "text", "label", *self.attributes]
        if self.table.column_names != wanted:
            raise InputError("a Dataset's columns are wrong", expected=str(wanted), got=str(self.table.column_names))
        for name, right in (("id", is_text), ("text", is_text), ("label", pa.types.is_dictionary)):
            if not right(self.table.schema.field(name).type):
                raise InputError(f"the column {name!r} has the wrong type", got=str(self.table.schema.field(name).type))
            if self.table[name].null_count:
                raise InputError(f"{self.table[name].null_count} rows have no {name}")
        if len(set(self.label_names)) < len(self.label_names):
            raise InputError("label names repeat", got=str(self.label_names))
        refuse_repeats(self.ids)
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
    def order(self) -> str:
        """Hash of the ids in their row order: equal for two datasets whose rows stand in the same places."""
        digest = hashlib.sha256()
        for (ids,) in self.batches("id"):
            digest.update("".join(f"{len(each)}:{each}" for each in ids).encode())
        return digest.hexdigest()[:32]

    @property
    def texts(self) -> pa.ChunkedArray:
        """Texts, in row order."""
        return self.table["text"]

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
        return replace(self, table=self.table.take(pa.array(positions.astype(np.int64))))

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
