"""Splits in the forms in which others publish them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unseen.errors import InputError, MismatchError
from unseen.store.files import as_written
from unseen.types import Dataset, some

NUMBER = re.compile(r"-?[0-9]{1,15}")
"""An id that is a number; 16 digits may be an id that was made from a text."""


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
        raise InputError(f"{path} is not valid JSON: {cause}") from cause
    if not isinstance(content, dict) or not all(isinstance(each, list) for each in content.values()):
        raise InputError(f"{path} is not a split", expected='an object of lists, {"train": […], "test": […]}')
    return content


def _lines(path: Path, text: str) -> dict[str, list[int]]:
    lists = {}
    for number, line in enumerate(text.splitlines(), start=1):
        part, _, positions = line.partition(":")
        if line.strip():
            try:
                lists[part.strip()] = [int(each) for each in ast.literal_eval(positions.strip())]
            except (ValueError, SyntaxError, TypeError, OverflowError, RecursionError, MemoryError) as cause:
                raise InputError(f"{path}, line {number}: expected a part and a list of row positions") from cause
    return lists


def _from_lists(path: Path, lists: Mapping[str, Iterable[Any]], data: Dataset, positions: bool = False) -> list[str]:
    place = {name: row for row, name in enumerate(data.ids.to_pylist())}
    numbers = any(_is_number(each) for members in lists.values() for each in members)
    positions = positions or (numbers and not any(map(NUMBER.fullmatch, place)))
    parts = [""] * len(data)
    strangers, twice = [], []
    for part, members in lists.items():
        for member in members:
            row = member if positions and _is_number(member) else place.get(str(member), -1)
            if not 0 <= row < len(data):
                strangers.append(member)
            elif parts[row]:
                twice.append(member)
            else:
                parts[row] = part
    if twice:
        raise InputError(f"{path} names {len(twice)} rows more than once", got=some(twice))
    _check_found(path, strangers, parts, data)
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
    names = as_written([name for name, _ in rows], data.ids.to_pylist())
    lists: dict[str, list[str]] = {}
    for name, (_, part) in zip(names, rows, strict=True):
        lists.setdefault(part, []).append(name)
    return _from_lists(path, lists, data)


def _check_found(path: Path, strangers: list[Any], parts: list[str], data: Dataset) -> None:
    if strangers:
        raise MismatchError(
            f"{path} names {len(strangers)} rows that {data.name} does not have",
            got=some(strangers),
            expected=f"ids of {data.name}, or row positions from 0 to {len(data) - 1}",
            fix="load the dataset the split was made for, with the column that holds its ids; numbers that are row "
            "positions: positions=True (--set positions=true of unseen split DATA --with predefined --by FILE)",
        )
    if not any(parts):
        raise InputError(f"{path} names no row")
