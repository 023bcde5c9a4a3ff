"""Splits in the forms in which others publish and read them, the dataset folders of the Hugging Face hub among them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError, MismatchError, MissingPackageError, UnseenWarning, complaint
from unseen.store.files import as_written, file_name, missing_file, write_text
from unseen.store.plain_yaml import front_matter
from unseen.types import Dataset, Split, some

NUMBER = re.compile(r"-?[0-9]{1,15}")
"""An id that is a number; 16 digits may be an id that was made from a text."""

POSITIONS = (
    "; numbers that are row positions: positions=True "
    "(--set positions=true of unseen split make DATA --with predefined --by FILE)"
)


def read_parts(path: str | Path, data: Dataset, positions: bool = False) -> list[str]:
    """The part that a file gives each row of `data`, in row order; empty where it names none.

    Reads a table of ids and parts (CSV or TSV, any other columns ignored), a JSON object of lists of ids
    or row positions per part, and lines such as `test: [3, 17, …]` of the same, where the rows that no line names
    are for training. Numbers are ids where the data has ids that are numbers, and row positions where it has none;
    `positions` says that they are row positions in any case.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as cause:
        raise missing_file(path) from cause
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(f"cannot read the split {path}: {cause}") from cause
    if path.suffix == ".json":
        return _from_lists(path, _json_lists(path, text), data, positions)
    if ": [" in text.lstrip().partition("\n")[0]:
        lists = _lines(path, text)
        named = _from_lists(path, lists, data, positions)
        return named if "train" in lists else [part or "train" for part in named]
    if positions:
        raise InputError("positions=True has no effect on a table of ids and parts", fix="leave it out")
    return _from_table(path, text, data)


def _json_lists(path: Path, text: str) -> Mapping[str, list[Any]]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path} is not valid JSON: {complaint(cause)}") from cause
    if not isinstance(content, dict) or not all(isinstance(members, list) for members in content.values()):
        raise InputError(f"{path} is not a split", expected='an object of lists, {"train": […], "test": […]}')
    return content


def _lines(path: Path, text: str) -> dict[str, list[int]]:
    lists = {}
    for number, line in enumerate(text.splitlines(), start=1):
        part, _, members = line.partition(":")
        if line.strip():
            try:
                lists[part.strip()] = [int(member) for member in ast.literal_eval(members.strip())]
            except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError) as cause:
                raise InputError(f"{path}, line {number}: expected a part and a list of row positions") from cause
    return lists


def _from_lists(path: Path, lists: Mapping[str, Iterable[Any]], data: Dataset, positions: bool = False) -> list[str]:
    rows = {name: row for row, name in enumerate(data.ids.to_pylist())}
    numbers = any(_is_number(member) for members in lists.values() for member in members)
    positions = positions or (numbers and not any(map(NUMBER.fullmatch, rows)))
    parts = [""] * len(data)
    strangers, twice, gone = [], [], 0
    for part, members in lists.items():
        for member in members:
            row = member if positions and _is_number(member) else rows.get(str(member), -1)
            if row == -1 and str(member) in data.left_out:
                gone += 1
            elif not 0 <= row < len(data):
                strangers.append(member)
            elif parts[row]:
                twice.append(member)
            else:
                parts[row] = part
    if twice:
        raise InputError(f"{path} names {len(twice)} rows more than once", got=some(twice))
    if strangers:
        raise MismatchError(
            f"{path} names {len(strangers)} rows that {data.name} does not have",
            got=some(strangers),
            expected=f"ids of {data.name}, or row positions from 0 to {len(data) - 1}",
            fix="load the dataset the split was made for, with the column that holds its ids"
            + ("" if positions or not any(map(_is_number, strangers)) else POSITIONS),
        )
    if not any(parts):
        raise InputError(f"{path} names no row")
    if gone:
        warning = f"{gone:,} rows that {path} names were dropped when {data.name} was loaded"
        warnings.warn(warning, UnseenWarning, stacklevel=2)
    if positions and numbers and data.left_out:
        dropped = f"the {len(data.left_out):,} dropped ones"
        warning = f"row positions of {path} count the rows of {data.name} without {dropped}"
        warnings.warn(warning, UnseenWarning, stacklevel=2)
    return parts


def _is_number(member: Any) -> bool:
    return isinstance(member, int) and not isinstance(member, bool)


def _from_table(path: Path, text: str, data: Dataset) -> list[str]:
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
        missing = {"id", "part"} - set(reader.fieldnames or ())
        if missing:
            raise InputError(f"{path} is not a split", expected="the columns id and part", got=str(reader.fieldnames))
        rows = [(str(row["id"]), row["part"]) for row in reader]
    except csv.Error as cause:
        raise InputError(f"cannot read the split {path}: {cause}") from cause
    names = as_written([name for name, _ in rows], [*data.ids.to_pylist(), *data.left_out])
    lists: dict[str, list[str]] = {}
    for name, (_, part) in zip(names, rows, strict=True):
        lists.setdefault(part, []).append(name)
    return _from_lists(path, lists, data)


def to_indices(split: Split) -> dict[str, npt.NDArray[np.intp]]:
    """Row positions per part, e.g. for numpy or scikit-learn; parts without rows are left out."""
    return {part: split.rows(part) for part in split.sizes}


def to_dataset_dict(data: Dataset, split: Split) -> Any:
    """A Hugging Face `DatasetDict` with one dataset per part: all columns, and the cluster of each row."""
    try:
        from datasets import ClassLabel, DatasetDict
        from datasets import Dataset as HubDataset
    except ImportError as cause:
        raise MissingPackageError.of("datasets", "a DatasetDict", "hf") from cause
    split = split.of(data)
    names = ClassLabel(names=list(data.label_names))
    parts = {}
    for part in split.sizes:
        rows = split.rows(part)
        table = data.take(rows).table
        columns = {name: table[name].to_pylist() for name in table.column_names if name != "label"}
        columns["label"] = data.labels[rows].tolist()
        columns["cluster"] = split.clusters[rows].tolist()
        parts[part] = HubDataset.from_dict(columns).cast_column("label", names)
    return DatasetDict(parts)


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
