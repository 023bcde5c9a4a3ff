"""Splits as configurations of a dataset folder laid out like those of the Hugging Face hub."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.store.files import file_name, write_text
from unseen.store.plain_yaml import front_matter
from unseen.types import Dataset, Split, some


def write_hub_dataset(data: Dataset, splits: Mapping[str, Split], folder: str | Path, texts: bool = False) -> Path:
    """Write a configuration for each split, a file for each of its parts, and the README.md that names them.

    A file has the ids of its rows and their clusters; with `texts` all columns of the data too. The folder is one that
    `datasets.load_dataset(folder, NAME)` reads, and that can be pushed as it is.
    """
    folder, configurations = Path(folder), []
    names = {name: file_name(name) for name in splits}
    if len({*names.values()}) < len(names):
        raise InputError("two splits would be one configuration", got=some(names), fix="give their files other names")
    for name, split in splits.items():
        parted, files = split.of(data), []
        for part in parted.sizes:
            rows = parted.rows(part)
            table = data.take(rows).table
            clusters = pa.array(parted.clusters[rows], mask=parted.clusters[rows] < 0)
            place = f"{names[name]}/{part}.parquet"
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            chosen = table if texts else table.select(["id"])
            pq.write_table(chosen.append_column("cluster", clusters), folder / place)
            files.append({"split": part, "path": place})
        configurations.append({"config_name": names[name], "data_files": files})
    card = f"# Splits of {data.name}\n\n{_how(texts)}\n"
    return write_text(folder / "README.md", front_matter({"configs": configurations}) + card)


def _how(texts: bool) -> str:
    parts = "Each configuration is a split, made by unseen; each of its splits is a part of it."
    return parts if texts else f"{parts} Rows are named by their id: no text is in these files."
