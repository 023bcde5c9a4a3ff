"""The files of a repair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from unseen.errors import InputError
from unseen.repairs.draft import RepairChange
from unseen.repairs.repairing import Repaired
from unseen.store.datasets import read_dataset, write_dataset
from unseen.store.files import atomic, csv_rows, harmless, write_json
from unseen.store.splits import write_split

COLUMNS = ["id", "action", "reason", "from", "to", "like"]


def write_repaired(repaired: Repaired, path: str | Path) -> dict[str, Path]:
    """Write the split to `path` (.csv and .json) and beside it what was changed and both audits.

    Texts are written only when rows were relabelled: the split then belongs to a dataset that is nowhere else. Such a
    dataset of an earlier repair is removed when this one has none; a file that no repair wrote stays.
    """
    path = Path(path)
    written = {"split": write_split(repaired.split, path), "description": path.with_suffix(".json")}
    names = targets(path)
    written["changes"] = write_changes(repaired.changes, names["changes"])
    written["audit"] = write_json(names["audit"], _audits(repaired))
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


def write_changes(changes: Iterable[RepairChange], path: str | Path) -> Path:
    """Write one line per change: id, action, reason, from, to, and the row that stayed in its place."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS)
        for each in changes:
            cells = (each.id, each.action, each.reason, each.before, each.after, each.like)
            write_row([harmless(cell) for cell in cells])
    return Path(path)


def _audits(repaired: Repaired) -> dict[str, object]:
    return {
        "split": repaired.split.name,
        "recipe": repaired.recipe.said,
        "counts": repaired.counts,
        "before": [asdict(each) for each in repaired.before],
        "after": [asdict(each) for each in repaired.after],
        "remaining": [each.check for each in repaired.remaining],
    }
