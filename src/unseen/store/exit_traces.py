"""What every layer of a classifier that stops early says, as a Parquet file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.store.files import atomic, door
from unseen.types import ExitTrace, string_array


def write_exits(trace: ExitTrace, path: str | Path) -> Path:
    """Write `id`, and lists with the answer and the score of each layer."""
    path = Path(path)
    columns = {"id": trace.ids} | {
        name: pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), trace.layers)
        for name, values in (("answers", trace.answers), ("scores", trace.scores))
    }
    about = {"threshold": repr(trace.threshold), "labels": json.dumps(trace.label_names)}
    with atomic(path) as temporary:
        pq.write_table(pa.table(columns).replace_schema_metadata(about), temporary, compression="zstd")
    return path


def read_exits(path: str | Path) -> ExitTrace:
    """The trace that `write_exits` wrote."""
    with door(path, "a trace of layers"):
        table = pq.read_table(path)
        about = {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}
        if not {"threshold", "labels"} <= about.keys() or table.column_names != ["id", "answers", "scores"]:
            raise InputError(f"{path} is no trace of layers", got=str(table.column_names))
        answers, scores = (
            np.stack(table[name].to_numpy()) if len(table) else np.empty((0, 1)) for name in ("answers", "scores")
        )
        return ExitTrace(
            string_array(table["id"]),
            answers.astype(np.int16),
            scores.astype(np.float32),
            float(about["threshold"]),
            tuple(json.loads(about["labels"])),
        )
