"""Tables in memory, recognised by their module, so that none of these packages is imported here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.records import column_of, read_dicts
from unseen.data.rows import Rows, require_columns
from unseen.data.values import from_python, is_list, plain, slices, unified
from unseen.errors import InputError


def read_object(source: Any, wanted: Sequence[str]) -> Rows:
    """The wanted columns of a pandas, polars, Arrow or Hugging Face table, or of a list of dictionaries."""
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _read_arrow(source, wanted)
    if isinstance(source, list | tuple):
        return read_dicts(source, wanted)
    readers = {
        ("pandas", "DataFrame"): _read_pandas,
        ("polars", "DataFrame"): _read_polars,
        ("datasets", "Dataset"): _read_hugging_face,
    }
    for kind in type(source).__mro__:
        reader = readers.get((kind.__module__.partition(".")[0], kind.__name__))
        if reader:
            return reader(source, wanted)
    raise _unreadable(source)


def _unreadable(source: Any) -> InputError:
    kind = type(source).__name__
    fixes = {
        "DatasetDict": "choose one of its splits, e.g. data['train'], or join them: docs/data.md shows how",
        "IterableDataset": "load it without streaming=True",
        "LazyFrame": "collect it first: frame.collect()",
        "Series": "give the whole table, with the labels",
        "dict": "give a list of rows, or pandas.DataFrame(data)",
    }
    return InputError(
        f"{type(source).__module__}.{kind} cannot be loaded as a table",
        expected="a path, or a pandas, polars, pyarrow or Hugging Face table, or a list of dictionaries",
        got=kind,
        fix=fixes.get(kind, "convert it to one of these"),
    )


def _read_arrow(table: pa.Table, wanted: Sequence[str], title: str = "the Arrow table") -> Rows:
    wanted = require_columns(title, wanted, table.column_names)
    return Rows(table.select(list(wanted)), title, {"format": "pyarrow.Table"})


def _read_polars(frame: Any, wanted: Sequence[str]) -> Rows:
    title = "the polars DataFrame"
    wanted = require_columns(title, wanted, frame.columns)
    return Rows(frame.select(list(wanted)).to_arrow(), title, {"format": "polars.DataFrame"})


def _read_pandas(frame: Any, wanted: Sequence[str]) -> Rows:
    title = "the pandas DataFrame"
    names = [str(name) for name in frame.columns]
    wanted = require_columns(title, wanted, names)
    columns = {name: _series(frame.iloc[:, names.index(name)], column_of(name, title)) for name in wanted}
    return Rows(pa.table(columns), title, {"format": "pandas.DataFrame"})


def _series(series: Any, what: str) -> pa.ChunkedArray:
    if series.dtype != object:
        return plain(pa.array(series, from_pandas=True))
    size = 1 << 16
    blocks = [series.iloc[start : start + size] for start in range(0, len(series), size)]
    return unified([from_python([_missing_as_none(value) for value in block], what) for block in blocks], what)


def _missing_as_none(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return None if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value else value


def _read_hugging_face(data: Any, wanted: Sequence[str]) -> Rows:
    title = "the Hugging Face Dataset"
    wanted = require_columns(title, wanted, data.column_names)
    table = data.select_columns(list(wanted)).with_format("arrow")[:]
    declared = {name: names for name in wanted if (names := _class_names(data.features[name]))}
    for name, names in declared.items():
        table = table.set_column(table.column_names.index(name), name, _named(plain(table[name]), names))
    settings = {"format": "datasets.Dataset"}
    return Rows(table.replace_schema_metadata(None), title, settings, class_names=declared)


def _class_names(feature: Any) -> tuple[str, ...]:
    feature = getattr(feature, "feature", feature)
    return tuple(feature.names) if type(feature).__name__ == "ClassLabel" else ()


def _named(codes: pa.ChunkedArray, names: Sequence[str]) -> pa.ChunkedArray:
    dictionary = pa.array(names, type=pa.large_string())
    if is_list(codes.type):
        lists = [[[names[code] for code in row] if row else row for row in each.to_pylist()] for each in slices(codes)]
        return pa.chunked_array([pa.array(each, type=pa.list_(pa.string())) for each in lists])
    known = pc.if_else(pc.less(codes, 0), None, codes)
    return pa.chunked_array([dictionary.take(chunk) for chunk in known.chunks], type=pa.large_string())
