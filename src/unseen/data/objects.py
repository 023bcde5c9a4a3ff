"""Tables in memory, recognised by their module, so that none of these packages is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import LISTS, STRINGS, from_python, is_list, plain, slices, unified
from unseen.data.records import read_dicts
from unseen.data.rows import Rows, column_title, require_columns
from unseen.errors import InputError

BLOCK = 1 << 16
FIXES = {
    "DatasetDict": "choose one of its splits, e.g. data['train'], or join them: docs/data.md shows how",
    "IterableDataset": "load it without streaming=True",
    "LazyFrame": "collect it first: frame.collect()",
    "Series": "give the whole table, with the labels",
    "dict": "give a list of rows, or pandas.DataFrame(data)",
}
"""What to do with objects that are nearly tables."""


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
