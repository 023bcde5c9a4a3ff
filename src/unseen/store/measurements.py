"""Measurements as one CSV: a row per number, a column per tag."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from unseen.errors import InputError
from unseen.store.files import atomic, harmless, unharmed
from unseen.types import Measurement

COLUMNS = ["metric", "value", "low", "high", "n", "slice"]


def write_measurements(rows: Iterable[Measurement], path: str | Path) -> Path:
    """Write one line per measurement; tags become columns."""
    rows = list(rows)
    tags = list(dict.fromkeys(tag for row in rows for tag in row.tags))
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS + tags)
        for row in rows:
            numbers = ["" if each is None else repr(float(each)) for each in (row.value, row.low, row.high)]
            writer.writerow(
                [row.metric, *numbers, row.n, harmless(row.slice)]
                + [harmless(str(row.tags.get(tag, ""))) for tag in tags]
            )
    return Path(path)


def read_measurements(path: str | Path) -> list[Measurement]:
    """The measurements in `path`; tags come back as strings."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if (reader.fieldnames or [])[: len(COLUMNS)] != COLUMNS:
            raise InputError(f"{path} does not hold measurements", expected=f"the columns {', '.join(COLUMNS)}, …")
        return [_row(line) for line in reader]


def _row(line: dict[str, str]) -> Measurement:
    value, low, high = (float(line[name]) if line[name] else None for name in ("value", "low", "high"))
    tags = {tag: unharmed(text) for tag, text in line.items() if tag not in COLUMNS and text}
    return Measurement(line["metric"], value, int(line["n"]), low, high, unharmed(line["slice"]), tags)
