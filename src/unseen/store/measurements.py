"""Measurements as one CSV: a row per number, a column per tag."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unseen.errors import InputError
from unseen.store.files import atomic, csv_rows, harmless, read_rows, unharmed
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
    return read_rows(path, "measurements", COLUMNS, _row)


def _row(line: dict[str, str]) -> Measurement:
    value, low, high = (float(line[name]) if line[name] else None for name in ("value", "low", "high"))
    tags = {tag: unharmed(text) for tag, text in line.items() if tag not in COLUMNS and text}
    return Measurement(line["metric"], value, int(line["n"]), low, high, unharmed(line["slice"]), tags)
