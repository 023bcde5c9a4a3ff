"""What kind of run a folder holds."""

from __future__ import annotations

from pathlib import Path

from unseen.errors import InputError
from unseen.store import read_json


def kind_of(folder: str | Path) -> str | None:
    """The kind that run.json names; None when it names none, as that of a stress run, or cannot be read."""
    try:
        kind = read_json(Path(folder) / "run.json").get("kind")
    except InputError:
        return None
    return kind if isinstance(kind, str) else None
