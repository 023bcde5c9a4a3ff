"""The file a command writes, looked at before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

from unseen.errors import InputError

TWIN_KEYS = {".csv": {"certificate", "csv_sha256"}, ".npy": {"npy_sha256"}}
"""What the .json beside a file of ours holds, by the ending of the file."""


def check_target(path: Path, ending: str) -> None:
    """Refuse a file that could not be written, or that is not one of ours and would be lost."""
    from unseen.store.files import holds

    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", fix=f"name a file in it: -o {path / f'NAME{ending}'}")
    if path.suffix != ending:
        raise InputError(f"{path} does not end in {ending}", fix=f"-o {path.with_suffix(ending)}")
    twin = path.with_suffix(".json")
    for file in (path, twin):
        if file.exists() and not holds(twin, TWIN_KEYS[ending]):
            raise InputError(
                f"{file} is not a file of unseen's and would be overwritten",
                fix="give -o another name, or move that file away",
            )
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"cannot write {path}: {above.name} is not a folder", fix="name a file in a folder")
    if not os.access(above, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InputError(f"cannot write {path}: {above} may not be written to", fix="name another folder")


def check_measurements(path: Path | None) -> None:
    """Refuse a folder, and a file that holds something else than measurements and would be lost."""
    from unseen.store.files import door
    from unseen.store.record_tables import MEASUREMENT

    if path is not None and path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", fix=f"name a file in it: -o {path / 'NAME.csv'}")
    if path is not None and path.is_file() and path.stat().st_size:
        with door(path, "measurements"), path.open("rb") as file:
            ours = file.read(100).startswith(",".join(MEASUREMENT).encode())
        if not ours:
            raise InputError(f"{path} holds no measurements and would be overwritten", fix="give -o another name")


def check_folder(path: Path) -> None:
    """Refuse a folder that holds other things than a model of ours."""
    from unseen.store.files import holds

    if path.exists() and not path.is_dir():
        raise InputError(f"cannot write the folder {path}: it is a file", fix="give -o another name")
    if path.is_dir() and any(path.iterdir()) and not holds(path / "unseen.json", {"classifier"}):
        raise InputError(f"{path} holds other things than a model", fix="give -o another name, or an empty folder")
