"""Parquet files: only the columns asked for are read, at once or some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.data.rows import Rows, require_columns
from unseen.errors import TableError
from unseen.types import ROWS_AT_ONCE


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
