"""A corpus of sixty texts, in several files of any format."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

ROWS = 60


def table(rows: int = ROWS) -> pa.Table:
    texts = [f"{'abcde'[i % 5]}nother text,\nnumber {i} about {'tea' * (i % 4)}" for i in range(rows)]
    return pa.table({"name": [f"row-{i}" for i in range(rows)], "text": texts, "label": [i % 2 for i in range(rows)]})


def write(folder: Path, what: pa.Table, form: str, files: int = 3) -> Path:
    """`what` in several files of a format; a folder for Parquet, a pattern for the others."""
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-len(what) // files)
    for number in range(files):
        part, path = what.slice(number * size, size), folder / f"part-{number}.{form}"
        if form == "parquet":
            pq.write_table(part, path, row_group_size=7)
        elif form == "csv":
            pacsv.write_csv(part, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in part.to_pylist()))
    return folder if form == "parquet" else folder / f"*.{form}"
