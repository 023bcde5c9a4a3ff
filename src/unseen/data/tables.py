"""Labelled texts from a file or from a table in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data import delimited
from unseen.data.attributes import attribute_column
from unseen.data.content import File, known_encoding, reading, recognise
from unseen.data.ids import made_ids, repeats
from unseen.data.labels import Declared, declare, in_order, label_strings
from unseen.data.objects import read_object
from unseen.data.records import column_of, json_names, read_json
from unseen.data.rows import LONGEST, Columns, Rows, refuse_long, require_columns
from unseen.data.selection import Candidates, check_drop, select
from unseen.data.spellings import merge as merge_spellings
from unseen.data.values import as_strings
from unseen.errors import InputError, TableError, UnseenWarning
from unseen.store.datasets import encode_labels
from unseen.store.files import sha256_of
from unseen.types import Dataset, Origin


def load_table(
    source: Any,
    *,
    text: str = "text",
    label: str = "label",
    id: str | None = None,
    attributes: Sequence[str] = (),
    labels: Sequence[Any] | Mapping[Any, str] | None = None,
    drop: Collection[str] = (),
    merge: bool = False,
    longest: int = LONGEST,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
) -> Dataset:
    """The labelled texts of `source` as a Dataset; nothing is written anywhere.

    `source` is a CSV, TSV, JSONL, JSON or Parquet file (the text formats also as .gz), a pandas, polars,
    Arrow or Hugging Face table, or a list of dictionaries. `text`, `label`, `id` and `attributes` are
    names of its columns. Without `id`, a column of that name is used when it is complete and without repeats; else
    ids are made from the texts, so they change when a text does.

    `labels` declares the labels and their order, or maps the values of the source to label names;
    without it they are found and sorted, so data that lacks a class has another order of labels.
    `drop` leaves out rows that would otherwise be refused: `unlabelled`, `undeclared`, `empty`,
    `duplicates` (of ids; the first row stays); and rows whose label was found and is doubtful: `placeholders` (such
    as NA and null, which are labels like any other in a text file), `several` (`a|b`), `rare` (fewer than ten rows).
    `merge` makes one label of those that differ only by case, blanks, Unicode form, invisible characters, or as 0
    and 0.0 do: the declared one, else the most frequent. A cell of more than
    `longest` bytes is refused. `unseen.data.attributes` says which types attributes keep.
    """
    columns = Columns(text, label, id, (attributes,) if isinstance(attributes, str) else tuple(attributes))
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if path is None:
        _refuse_unused("a table in memory", delimiter, encoding)
        rows = read_object(source, columns.names)
    else:
        with reading(path):
            rows = _read_file(recognise(path, known_encoding(encoding)), columns.names, delimiter)
    refuse_long(rows, longest)
    declared = declare(labels, None if merge else rows.class_names.get(label))
    if id is None:
        columns = replace(columns, id=_usable_id(rows, columns))
    drop = check_drop(drop, labels is not None, columns.id is not None)
    table, label_names, dropped = _dataset_table(rows, columns, declared, drop, merge)
    params = {
        **({"file": path.name} if path else {}),
        **rows.settings,
        "columns": {"text": text, "label": label, "id": columns.id, "attributes": list(columns.attributes)},
        "labels": dict(declared.raw) if isinstance(labels, Mapping) and declared else list(label_names),
        "drop": list(drop),
        "dropped": dropped,
        **({"merge": True} if merge else {}),
        **({"longest": longest} if longest != LONGEST else {}),
    }
    inputs = {"file": sha256_of(path)} if path else {}
    origin = Origin("load", params, inputs=inputs, versions={each: _version(each) for each in ("unseen", "pyarrow")})
    return Dataset(name or _name_of(path), table, label_names, columns.attributes, origin)


def column_names(path: str | Path, delimiter: str | None = None, encoding: str = "utf-8") -> list[str]:
    """The names of the columns of a file that `load_table` reads."""
    with reading(Path(path)):
        file = recognise(Path(path), known_encoding(encoding))
        if file.format == "delimited":
            return delimited.column_names(file, delimiter)
        if file.format == "json":
            return json_names(file)
        with pq.ParquetFile(path) as table:
            return list(table.schema_arrow.names)


def _read_file(file: File, wanted: Sequence[str], delimiter: str | None) -> Rows:
    if file.format == "delimited":
        return delimited.read_delimited(file, wanted, delimiter)
    if file.format == "json":
        _refuse_unused(str(file.path), delimiter)
        return read_json(file, wanted)
    _refuse_unused(str(file.path), delimiter, file.encoding)
    return _read_parquet(file.path, wanted)


def _refuse_unused(title: str, delimiter: str | None, encoding: str = "utf-8") -> None:
    if delimiter is not None:
        raise InputError(f"delimiter has no effect on {title}", expected="delimiter only for CSV and its relatives")
    if known_encoding(encoding) != "utf-8":
        raise InputError(f"encoding has no effect on {title}", expected="encoding only for CSV and JSON files")


def _read_parquet(path: Path, wanted: Sequence[str]) -> Rows:
    try:
        with pq.ParquetFile(path) as file:
            wanted = require_columns(str(path), wanted, file.schema_arrow.names)
            table = file.read(columns=list(wanted))
    except (pa.ArrowException, OSError) as cause:
        raise TableError(
            f"{path} is a damaged Parquet file", got=str(cause), fix="copy or write it again; it may be cut short"
        ) from cause
    return Rows(table.replace_schema_metadata(None), str(path), {"format": "parquet"})


def _usable_id(rows: Rows, columns: Columns) -> str | None:
    """The column `id`, when the source has one that nobody named and it can tell rows apart."""
    if "id" in (columns.text, columns.label) or "id" not in rows.table.column_names:
        return None
    try:
        ids = label_strings(rows.table["id"], "id")
        wrong = {"no id": ids.null_count, "the id of an earlier row": int(repeats(ids).sum())}
        why = ", ".join(f"{count:,} rows have {what}" for what, count in wrong.items() if count)
    except InputError as cause:
        why = cause.message
    if why:
        warnings.warn(
            f"the column 'id' of {rows.title} is not used, because {why}; ids are made from the texts. "
            "To see which rows: id='id'",
            UnseenWarning,
            stacklevel=3,
        )
    return None if why else "id"


def _dataset_table(
    rows: Rows, columns: Columns, declared: Declared | None, drop: Collection[str], merge: bool
) -> tuple[pa.Table, tuple[str, ...], dict[str, int]]:
    """The columns of a Dataset, its label names, and the rows dropped for each reason."""

    def what(name: str) -> str:
        return column_of(name, rows.title)

    texts = as_strings(rows.table[columns.text], what(columns.text))
    labels = label_strings(rows.table[columns.label], what(columns.label))
    if merge:
        labels = merge_spellings(labels, declared.raw if declared else ())
    ids = None if columns.id is None else label_strings(rows.table[columns.id], what(columns.id))
    keep, dropped = select(Candidates(rows, texts, labels, ids, declared), drop)
    raw = {name: rows.table[name] for name in columns.attributes}
    kept = pa.table({"text": texts, "label": labels, **({} if ids is None else {"id": ids}), **raw})
    if not keep.all():
        kept = kept.filter(pa.array(keep))
    label_names = declared.names if declared else in_order(kept["label"].unique().to_pylist())
    made = {
        "id": made_ids(kept["text"]) if ids is None else kept["id"],
        "text": kept["text"],
        "label": encode_labels(declared.rename(kept["label"]) if declared else kept["label"], label_names),
        **{name: attribute_column(kept[name], what(name), rows.typed) for name in columns.attributes},
    }
    return pa.table(made), label_names, dropped


def _name_of(path: Path | None) -> str:
    return "table" if path is None else path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
