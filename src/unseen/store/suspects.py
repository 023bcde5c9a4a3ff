"""Suspect labels as one CSV: a row per text, the most suspect first."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from unseen.store.files import atomic, csv_rows, harmless, read_rows, unharmed
from unseen.types import SuspectLabel

COLUMNS = ["id", "given", "likely", "confidence"]


def write_suspects(suspects: Iterable[SuspectLabel], path: str | Path) -> Path:
    """Write one line per suspect, in their order; no texts."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS)
        for each in suspects:
            write_row([harmless(each.id), harmless(each.given), harmless(each.likely), f"{each.confidence:.4f}"])
    return Path(path)


def read_suspects(path: str | Path) -> list[SuspectLabel]:
    """The suspects in `path`."""
    return read_rows(path, "suspect labels", COLUMNS, _suspect)


def _suspect(line: dict[str, str]) -> SuspectLabel:
    name, given, likely = (unharmed(line[column]) for column in COLUMNS[:3])
    return SuspectLabel(name, given, likely, float(line["confidence"]))
