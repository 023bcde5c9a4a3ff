"""Datasets as Parquet files that describe themselves."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.store.files import atomic, origin_from
from unseen.types import Dataset
from unseen.types.arrays import encode_labels

KEY = b"unseen.dataset"


def write_dataset(data: Dataset, path: str | Path) -> Path:
    """Write `data` as Parquet; names, labels and origin travel in the file's metadata."""
    about = {
        "name": data.name,
        "label_names": data.label_names,
        "attributes": data.attributes,
        "origin": asdict(data.origin),
    }
    plain = data.table.set_column(2, "label", data.table["label"].cast(pa.string()))
    plain = plain.replace_schema_metadata({KEY: json.dumps(about, default=str)})
    with atomic(path) as temporary:
        pq.write_table(plain, temporary, compression="zstd")
    return Path(path)


def read_dataset(path: str | Path) -> Dataset:
    """The dataset that `write_dataset` wrote to `path`."""
    try:
        table = pq.read_table(path, memory_map=True)
    except (OSError, pa.ArrowInvalid) as cause:
        raise InputError(f"cannot read {path} as Parquet: {cause}") from cause
    about = (table.schema.metadata or {}).get(KEY)
    if about is None:
        raise InputError(
            f"{path} is a Parquet file, but not a dataset of unseen",
            fix="load it as a table: unseen.load(path, text=…, label=…)",
        )
    about = json.loads(about)
    label_names = tuple(about["label_names"])
    table = table.replace_schema_metadata(None)
    table = table.set_column(2, "label", encode_labels(table["label"], label_names))
    return Dataset(about["name"], table, label_names, tuple(about["attributes"]), origin_from(about["origin"]))
