"""The files of a repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from unseen.errors import InputError
from unseen.repairs.draft import RepairChange
from unseen.repairs.procedure import Repaired
from unseen.store.datasets import read_dataset, write_dataset
from unseen.store.files import atomic, csv_rows, harmless, write_json
from unseen.store.splits import write_split
from unseen.types import Dataset

COLUMNS = ["id", "action", "reason", "from", "to", "like", "row", "like_row"]


def write_repaired(repaired: Repaired, path: str | Path) -> dict[str, Path]:
    """Write the split to `path` (.csv and .json) and beside it what was changed and both audits.

    Texts are written only when rows were relabelled: the split then belongs to a dataset that is nowhere else. Such a
    dataset of an earlier repair is removed when this one has none; a file that no repair wrote stays.
    """
    path = Path(path)
    written = {"split": write_split(repaired.split, path), "description": path.with_suffix(".json")}
    names = targets(path)
    written["changes"] = write_changes(repaired.changes, names["changes"], repaired.data)
    audits = {
        "split": repaired.split.name,
        "recipe": repaired.recipe.settings,
        "counts": repaired.counts,
        "before": [asdict(finding) for finding in repaired.before],
        "after": [asdict(finding) for finding in repaired.after],
        "remaining": [finding.check for finding in repaired.remaining],
    }
    written["audit"] = write_json(names["audit"], audits)
    if repaired.relabelled:
        written["data"] = write_dataset(repaired.data, names["data"])
    elif is_relabelled(names["data"]):
        names["data"].unlink()
    return written


def is_relabelled(path: Path) -> bool:
    """Whether a file is a dataset that a repair relabelled and wrote."""
    try:
        return read_dataset(path).origin.step == "repair" if path.is_file() else False
    except InputError:
        return False


def targets(path: Path) -> dict[str, Path]:
    """The files beside the split."""
    endings = {"changes": ".changes.csv", "audit": ".audit.json", "data": ".data.parquet"}
    return {what: path.with_name(path.stem + ending) for what, ending in endings.items()}


def write_changes(changes: Sequence[RepairChange], path: str | Path, data: Dataset) -> Path:
    """Write one line per change: id, action, reason, from, to, the row that stayed in its place, and where both are."""
    places = data.places_of(list({name for change in changes for name in (change.id, change.like)}))
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS)
        for change in changes:
            cells = (change.id, change.action, change.reason, change.before, change.after, change.like)
            write_row([*map(harmless, cells), places[change.id], places[change.like]])
    return Path(path)
