"""A folder that one of our recipes has written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.registry import check_parameters
from unseen.store import read_json
from unseen.training import CLASSIFIERS


def open_folder(source: str, *, label_names: tuple[str, ...] | None = None, trust: bool = False) -> Any:
    """The classifier saved in the folder `source`; `trust` runs code that came with its encoder."""
    name = read_json(Path(source) / "unseen.json").get("classifier")
    if not isinstance(name, str) or ":" in name:  # a place would run code that a file names
        raise InputError(
            f"{source}/unseen.json does not name a classifier of ours",
            expected=f"one of {', '.join(CLASSIFIERS)}",
            got=repr(name),
        )
    if label_names is not None:
        raise InputError("a model of ours knows its labels", fix="leave label_names out, or use rename={…}")
    load = CLASSIFIERS.get(name).load
    opening = {"trust": True} if trust else {}
    check_parameters(f"a classifier of the kind {name!r}", load, opening)
    return load(Path(source), **opening)
