"""Measurements as one CSV: a row per number, a column per tag."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from unseen.errors import InputError, TableError
from unseen.store.files import atomic, csv_rows, harmless, unharmed
from unseen.types import Measurement

COLUMNS = ["metric", "value", "low", "high", "n", "slice"]


def write_measurements(rows: Iterable[Measurement], path: str | Path) -> Path:
    """Write one line per measurement; tags become columns."""
    rows = list(rows)
    tags = list(dict.fromkeys(tag for row in rows for tag in row.tags))
    if not set(tags).isdisjoint(COLUMNS):
        raise InputError("a tag has the name of a column", got=", ".join(sorted({*tags} & {*COLUMNS})))
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS + tags)
        for row in rows:
            numbers = ["" if each is None else repr(float(each)) for each in (row.value, row.low, row.high)]
            write_row(
                [row.metric, *numbers, row.n, harmless(row.slice)]
                + [harmless(str(row.tags.get(tag, ""))) for tag in tags]
            )
    return Path(path)


def read_measurements(path: str | Path) -> list[Measurement]:
    """The measurements in `path`; tags come back as strings."""
    found, problems = [], []
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if list(reader.fieldnames or [])[: len(COLUMNS)] != COLUMNS:
                raise InputError(f"{path} does not hold measurements", expected=f"the columns {', '.join(COLUMNS)}, …")
            for line in reader:
                try:
                    found.append(_row(line))
                except ValueError as cause:
                    problems.append(f"line {reader.line_num}: {cause}")
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause
    if problems:
        raise TableError(f"{path} has wrong rows", problems=problems)
    return found


def _row(line: dict[Any, Any]) -> Measurement:
    if None in line or None in line.values():
        raise ValueError("not as many fields as the header has")
    value, low, high = (float(line[name]) if line[name] else None for name in ("value", "low", "high"))
    tags = {tag: unharmed(text) for tag, text in line.items() if tag not in COLUMNS and text}
    return Measurement(line["metric"], value, int(line["n"]), low, high, unharmed(line["slice"]), tags)
