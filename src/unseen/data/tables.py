"""Labelled texts from a file or from a table in memory.

Of Parquet files only the columns asked for are read, at once or some rows at a time. Tables in memory are recognised by
their module, so that none of these packages is imported here.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.data.columns import (
    LISTS,
    STRINGS,
    as_strings,
    attribute_column,
    filled_strings,
    from_python,
    is_blank,
    plain,
    slices,
    unified,
)
from unseen.data.delimited import delimited_names, read_delimited
from unseen.data.files import File, known_encoding, reading, recognise
from unseen.data.labels import Declared, declare, in_order, merge_spellings
from unseen.data.records import json_names, read_dicts, read_json
from unseen.data.rows import LONGEST, Columns, IfThere, Rows, column_title, require_columns
from unseen.data.selection import Candidates, Mask, check_drop, made_ids, repeats, select
from unseen.errors import InputError, TableError, UnseenWarning
from unseen.store.files import sha256_of
from unseen.types import ROWS_AT_ONCE, Dataset, Origin, as_names, some
from unseen.types.arrays import Codes, encode_labels, is_list

BLOCK = 1 << 16
FIXES = {
    "DatasetDict": "choose one of its splits, e.g. data['train'], or join them: docs/data.md shows how",
    "IterableDataset": "load it without streaming=True",
    "LazyFrame": "collect it first: frame.collect()",
    "Series": "give the whole table, with the labels",
    "dict": "give a list of rows, or pandas.DataFrame(data)",
}
"""What to do with objects that are nearly tables."""


def read_parquet(path: Path, names: Sequence[str]) -> Rows:
    """The columns `names` of a Parquet file."""
    with _opened(path) as file:
        table = file.read(columns=require_columns(str(path), names, file.schema_arrow.names))
    return Rows(table.replace_schema_metadata(None), str(path), {"format": "parquet"})


def parquet_batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    """The columns `names` of a Parquet file, some rows at a time."""
    with _opened(path) as file:
        present = require_columns(str(path), names, file.schema_arrow.names)
        for batch in file.iter_batches(ROWS_AT_ONCE // 8, columns=present):
            yield pa.Table.from_batches([batch]).replace_schema_metadata(None)


def parquet_names(path: Path) -> list[str]:
    """The names of its columns."""
    with _opened(path) as file:
        return list(file.schema_arrow.names)


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    try:
        with pq.ParquetFile(path) as file:
            yield file
    except (pa.ArrowException, OSError) as cause:
        raise TableError(
            f"{path} is a damaged Parquet file", got=str(cause), fix="copy or write it again; it may be cut short"
        ) from cause


def read_object(source: Any, names: Sequence[str]) -> Rows:
    """The columns `names` of a pandas, polars, Arrow or Hugging Face table, or of a list of dictionaries."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        title = "the Arrow table"
        present = require_columns(title, names, source.column_names)
        return Rows(source.select(present), title, {"format": "pyarrow.Table"})
    if isinstance(source, list | tuple):
        return read_dicts(source, names)
    readers = {
        ("pandas", "DataFrame"): _read_pandas,
        ("polars", "DataFrame"): _read_polars,
        ("datasets", "Dataset"): _read_hugging_face,
    }
    for kind in type(source).__mro__:
        reader = readers.get((kind.__module__.partition(".")[0], kind.__name__))
        if reader:
            return reader(source, names)
    name = type(source).__name__
    raise InputError(
        f"{type(source).__module__}.{name} cannot be loaded as a table",
        expected="a path, or a pandas, polars, pyarrow or Hugging Face table, or a list of dictionaries",
        got=name,
        fix=FIXES.get(name, "convert it to one of these"),
    )


def _read_polars(frame: Any, names: Sequence[str]) -> Rows:
    title = "the polars DataFrame"
    present = require_columns(title, names, frame.columns)
    return Rows(frame.select(present).to_arrow(), title, {"format": "polars.DataFrame"})


def _read_pandas(frame: Any, names: Sequence[str]) -> Rows:
    title = "the pandas DataFrame"
    known = [str(name) for name in frame.columns]
    present = require_columns(title, names, known)
    columns = {name: _series(frame.iloc[:, known.index(name)], column_title(name, title)) for name in present}
    return Rows(pa.table(columns), title, {"format": "pandas.DataFrame"})


def _series(series: Any, what: str) -> pa.ChunkedArray:
    if series.dtype != object:
        return plain(pa.array(series, from_pandas=True))
    blocks = [series.iloc[start : start + BLOCK] for start in range(0, len(series), BLOCK)]
    return unified([from_python([_missing_as_none(value) for value in block], what) for block in blocks], what)


def _missing_as_none(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _read_hugging_face(data: Any, names: Sequence[str]) -> Rows:
    title = "the Hugging Face Dataset"
    present = require_columns(title, names, data.column_names)
    table = data.select_columns(present).with_format("arrow")[:]
    declared = {}
    for place, name in enumerate(table.column_names):
        feature = getattr(data.features[name], "feature", data.features[name])
        if type(feature).__name__ == "ClassLabel" and feature.names:
            declared[name] = tuple(feature.names)
            table = table.set_column(place, name, _with_names(plain(table[name]), feature.names))
    return Rows(table.replace_schema_metadata(None), title, {"format": "datasets.Dataset"}, class_names=declared)


def _with_names(codes: pa.ChunkedArray, names: Sequence[str]) -> pa.ChunkedArray:
    """The class names that stand for numbers; a number below 0 is no class."""
    if is_list(codes.type):
        parts = [[[names[code] for code in row] if row else row for row in part.to_pylist()] for part in slices(codes)]
        return pa.chunked_array([pa.array(part, type=LISTS) for part in parts])
    known = pc.if_else(pc.less(codes, 0), None, codes)
    class_names = pa.array(names, type=STRINGS)
    return pa.chunked_array([class_names.take(chunk) for chunk in known.chunks], type=STRINGS)


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
    `longest` bytes is refused. `unseen.data.columns` says which types attributes keep.
    """
    columns = Columns(text, label, id, as_names(attributes))
    rows, path = _read(source, columns.names, delimiter, encoding)
    columns = columns.found_in(rows.table.column_names)
    rows.refuse_long(longest)
    declared = declare(labels, None if merge else rows.class_names.get(label))
    if id is None:
        columns = replace(columns, id=_usable_id(rows, columns))
    drop = check_drop(drop, labels is not None, columns.id is not None)
    table, label_names, dropped, keep, left_out = _dataset_table(rows, columns, declared, drop, merge)
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
    versions = {package: _version(package) for package in ("unseen", "pyarrow")}
    with reading(path) if path else nullcontext():
        places = rows.all_numbers()[keep]
    return Dataset(
        name or _name_of(path), table, label_names, columns.attributes,
        Origin("load", params, inputs=inputs, versions=versions),
        left_out=left_out, places=places, on_lines=rows.lines is not None,
    )  # fmt: skip


def load_texts(
    source: Any,
    label_names: Sequence[str],
    *,
    text: str = "text",
    label: str | None = "label",
    id: str | None = None,
    attributes: Sequence[str] = (),
    delimiter: str | None = None,
    encoding: str = "utf-8",
    name: str | None = None,
) -> tuple[Dataset, Codes]:
    """Texts of which some, or none, have a label: all of them as a Dataset, and their labels, -1 where there is none.

    The column `label` may be missing, and is not read where it is None. In the Dataset every text has the first label,
    which means nothing. Sources and columns are those of `load_table`; rows without a text are left out.
    """
    columns = Columns(text, IfThere(text if label is None else label), id, tuple(attributes))
    rows, path = _read(source, columns.names, delimiter, encoding)
    columns = columns.found_in(rows.table.column_names)
    texts = as_strings(rows.table[text], column_title(text, rows.title))
    kept = pc.invert(is_blank(texts))
    rows, texts = replace(rows, table=rows.table.filter(kept)), texts.filter(kept)
    rows.refuse_long(LONGEST)
    table, key = rows.table, _usable_id(rows, columns) if id is None else id
    given = pa.nulls(len(table), pa.large_string())
    if label is not None and label in table.column_names:
        given = filled_strings(table[label], column_title(label, rows.title)).combine_chunks()
    codes = pc.index_in(given, value_set=pa.array(label_names, pa.large_string()))
    unknown = pc.unique(given.filter(pc.and_(codes.is_null(), given.is_valid()))).to_pylist()
    if unknown or not len(table):
        raise TableError(
            f"{rows.title} has labels that the model does not give" if unknown else f"{rows.title} has no texts",
            expected=f"nothing, or one of {some(label_names, 20)}" if unknown else "a text in every row",
            got=some(unknown, 20) if unknown else None,
            fix="labels of the model in the words of the data: rename (--map)" if unknown else None,
        )
    first = pa.chunked_array([pa.array([label_names[0]] * len(table), pa.large_string())])
    made = {
        "id": made_ids(texts) if key is None else filled_strings(table[key], column_title(key, rows.title)),
        "text": texts,
        "label": encode_labels(first, tuple(label_names)),
        **{column: attribute_column(table[column], column, rows.typed) for column in columns.attributes},
    }
    origin = Origin("load texts", {"columns": {"text": text, "label": label, "id": key}})
    data = Dataset(name or _name_of(path), pa.table(made), tuple(label_names), columns.attributes, origin)
    return data, pc.fill_null(codes, -1).to_numpy(zero_copy_only=False).astype(np.int64)


def column_names(path: str | Path, delimiter: str | None = None, encoding: str = "utf-8") -> list[str]:
    """The names of the columns of a file that `load_table` reads."""
    with reading(Path(path)):
        file = recognise(Path(path), encoding)
        if file.format == "delimited":
            return delimited_names(file, delimiter)
        return json_names(file) if file.format == "json" else parquet_names(file.path)


def read_strings(
    path: str | Path, names: Sequence[str], what: str, delimiter: str | None = None, encoding: str = "utf-8"
) -> dict[str, pa.ChunkedArray]:
    """The columns `names` of a CSV or JSON file with `what`, as strings, null where there is nothing but space."""
    path = Path(path)
    with reading(path):
        file = recognise(path, encoding)
        if file.format not in ("delimited", "json"):
            raise InputError(f"{path} is not a CSV or JSON file", fix=f"write the {what} as CSV")
        rows = read_delimited(file, names, delimiter) if file.format == "delimited" else read_json(file, names)
    return {name: filled_strings(rows.table[name], column_title(name, str(path))) for name in names}


def _read(source: Any, names: Sequence[str], delimiter: str | None, encoding: str) -> tuple[Rows, Path | None]:
    """The columns `names` of a file or of a table in memory, and the path of the file."""
    if not isinstance(source, str | os.PathLike):
        _refuse_unused("a table in memory", delimiter, encoding)
        return read_object(source, names), None
    with reading(Path(source)):
        return _read_file(recognise(Path(source), encoding), names, delimiter), Path(source)


def _read_file(file: File, names: Sequence[str], delimiter: str | None) -> Rows:
    if file.format == "delimited":
        return read_delimited(file, names, delimiter)
    if file.format == "json":
        _refuse_unused(str(file.path), delimiter)
        return read_json(file, names)
    _refuse_unused(str(file.path), delimiter, file.encoding)
    return read_parquet(file.path, names)


def _refuse_unused(title: str, delimiter: str | None, encoding: str = "utf-8") -> None:
    if delimiter is not None:
        raise InputError(f"delimiter has no effect on {title}", expected="delimiter only for CSV and its relatives")
    if known_encoding(encoding) != "utf-8":
        raise InputError(f"encoding has no effect on {title}", expected="encoding only for CSV and JSON files")


def _usable_id(rows: Rows, columns: Columns) -> str | None:
    """The column `id`, when the source has one that nobody named and it can tell rows apart."""
    if "id" in (columns.text, columns.label) or "id" not in rows.table.column_names:
        return None
    try:
        ids = filled_strings(rows.table["id"], "id")
        counts = {"no id": ids.null_count, "the id of an earlier row": int(repeats(ids).sum())}
        why = ", ".join(f"{count:,} rows have {what}" for what, count in counts.items() if count)
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
) -> tuple[pa.Table, tuple[str, ...], dict[str, int], Mask, frozenset[str]]:
    """The columns of a Dataset, its label names, rows dropped for each reason, which were kept, ids of the others."""

    def title(name: str) -> str:
        return column_title(name, rows.title)

    texts = as_strings(rows.table[columns.text], title(columns.text))
    labels = filled_strings(rows.table[columns.label], title(columns.label))
    if merge:
        labels = merge_spellings(labels, declared.raw if declared else ())
    ids = None if columns.id is None else filled_strings(rows.table[columns.id], title(columns.id))
    keep, dropped = select(Candidates(rows, texts, labels, ids, declared), drop)
    attributes = {name: rows.table[name] for name in columns.attributes}
    kept = pa.table({"text": texts, "label": labels, **({} if ids is None else {"id": ids}), **attributes})
    if not keep.all():
        kept = kept.filter(pa.array(keep))
    label_names = declared.names if declared else in_order(kept["label"].unique().to_pylist())
    table = {
        "id": made_ids(kept["text"]) if ids is None else kept["id"],
        "text": kept["text"],
        "label": encode_labels(declared.rename(kept["label"]) if declared else kept["label"], label_names),
        **{name: attribute_column(kept[name], title(name), rows.typed) for name in columns.attributes},
    }
    every_id = made_ids(pc.fill_null(texts, "")) if ids is None else ids
    left_out = frozenset() if keep.all() else frozenset({*every_id.to_pylist()} - {*table["id"].to_pylist(), None})
    return pa.table(table), label_names, dropped, keep, left_out


def _name_of(path: Path | None) -> str:
    return "table" if path is None else path.name.removesuffix(".gz").rsplit(".", 1)[0] or path.name


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
