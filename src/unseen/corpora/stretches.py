"""The rows of one file, some thousand at a time, whatever its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from unseen.data.content import BLOCK, File, reading, recognise
from unseen.data.delimited import find_delimiter, first_fields, looks_sound
from unseen.data.diagnosis import refuse_broken
from unseen.data.records import column_of, on_lines
from unseen.data.rows import require_columns
from unseen.data.values import from_python
from unseen.errors import InputError, TableError
from unseen.types import ROWS_AT_ONCE

ROW_LIMIT = BLOCK << 2
"""Bytes of the longest row of a CSV file: one has to fit into what is read at once."""


def files_of(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that `source` means, sorted: a file, a folder of Parquet files, a pattern with *, several of these."""
    if not isinstance(source, str | Path):
        return sorted({file for each in source for file in files_of(each)})
    path = Path(source)
    if path.is_dir():
        found = [each for each in path.rglob("*") if each.suffix in (".parquet", ".pq") and each.is_file()]
    elif "*" in str(source) and not path.exists():
        found = [each for each in Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))) if each.is_file()]
    else:
        return [path]
    if not found:
        raise InputError(
            f"no file is meant by {source}", expected="a folder of Parquet files, or a pattern such as a/*.csv"
        )
    return sorted(found)


def stretches(path: Path, wanted: Sequence[str]) -> Iterator[pa.Table]:
    """Tables of the `wanted` columns in file order, of no particular size; never the whole file at once."""
    with reading(path):
        file = recognise(path, "utf-8")
        if file.format == "parquet":
            yield from _of_parquet(path, wanted)
        elif file.format == "delimited":
            yield from _of_delimited(file, wanted)
        else:
            yield from _of_lines(file, wanted)


def in_pieces(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows each, the last one shorter."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        while count >= rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows)
            waiting, count = [joined.slice(rows)], count - rows
    if count:
        yield pa.concat_tables(waiting)


def _of_parquet(path: Path, wanted: Sequence[str]) -> Iterator[pa.Table]:
    try:
        with pq.ParquetFile(path) as file:
            require_columns(str(path), wanted, file.schema_arrow.names)
            for batch in file.iter_batches(ROWS_AT_ONCE // 8, columns=list(wanted)):
                yield pa.Table.from_batches([batch]).replace_schema_metadata(None)
    except (pa.ArrowException, OSError) as cause:
        raise TableError(
            f"{path} is a damaged Parquet file", got=str(cause), fix="copy or write it again; it may be cut short"
        ) from cause


def _of_delimited(file: File, wanted: Sequence[str]) -> Iterator[pa.Table]:
    head = file.head()
    delimiter = find_delimiter(head, wanted)
    names = first_fields(head, delimiter)
    if names is None or not looks_sound(file, delimiter):
        refuse_broken(file, delimiter)
    require_columns(str(file.path), wanted, [name.decode("utf-8", "replace") for name in names or []])
    try:
        with file.open() as stream:
            batches = pacsv.open_csv(
                pa.PythonFile(stream, mode="r"),
                read_options=pacsv.ReadOptions(block_size=ROW_LIMIT),
                parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(
                    include_columns=list(wanted), column_types=dict.fromkeys(wanted, pa.large_string())
                ),
            )
            for batch in batches:
                yield pa.Table.from_batches([batch])
    except (pa.ArrowInvalid, UnicodeDecodeError) as cause:
        refuse_broken(file, delimiter)
        raise TableError(
            f"{file.path} cannot be read", got=str(cause), fix="check the file, or write Parquet"
        ) from cause


def _of_lines(file: File, wanted: Sequence[str]) -> Iterator[pa.Table]:
    if file.head().lstrip()[:1] == b"[":
        raise TableError(
            f"{file.path} is one JSON array", expected="one object on each line", fix="write JSONL or Parquet"
        )
    problems: list[str] = []
    with file.open() as stream:
        objects = on_lines(stream, problems)
        while batch := list(islice(objects, ROWS_AT_ONCE // 8)):
            require_columns(str(file.path), wanted, list(dict.fromkeys(name for each in batch for name in each)))
            columns = {name: [each.get(name) for each in batch] for name in wanted}
            yield pa.table(
                {name: from_python(values, column_of(name, str(file.path))) for name, values in columns.items()}
            )
            if problems:
                break
    if problems:
        raise TableError(f"{file.path} is not JSON rows", problems=problems, expected="one object on each line")
