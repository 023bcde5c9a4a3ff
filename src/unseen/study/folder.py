"""A run folder: one writer at a time, results of steps inside, and the files that people look for."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unseen.errors import InputError
from unseen.store import atomic
from unseen.store.results import Results

RECORDS = ".steps"
OURS = {"run.json", RECORDS}
ARRAYS = {".npy", ".safetensors"}
DESCRIBED = {".npy", ".csv", ".parquet"}
"""Files that may have a description beside them."""


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep the folder for this process; refuse one that another process writes to, or that is not a run's."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            present = {each.name for each in self.path.iterdir()}
            if present and not present & OURS:
                raise InputError(
                    f"{self.path} holds other things than a run", fix="name another folder, or an empty one"
                )
            (self.path / RECORDS).mkdir(exist_ok=True)
            lock = (self.path / RECORDS / "lock").open("w")
        except OSError as cause:
            raise InputError(
                f"cannot write to {self.path}: {cause.strerror}", fix="name a folder you may write to"
            ) from cause
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as cause:
                raise InputError(
                    f"another run is writing to {self.path}", fix="wait for its end, or name another folder"
                ) from cause
            yield

    @property
    def results(self) -> Results:
        """The results of the steps of this run."""
        return Results(self.path / RECORDS)

    def publish(self, key: str, file: str, name: str) -> None:
        """Put a file, or a folder of files, of a step's result where people look for it."""
        found = self.results.folder(key) / file
        if found.is_dir():
            shutil.rmtree(self / name, ignore_errors=True)
            for path in (path for path in found.rglob("*") if path.is_file()):
                _place(path, self / name / path.relative_to(found))
        elif found.exists():
            _place(found, self / name)
            if found.suffix in DESCRIBED and found.with_suffix(".json").exists():
                _place(found.with_suffix(".json"), (self / name).with_suffix(".json"))

    def place(self, found: Path, name: str) -> None:
        """Put a file where people look for it."""
        _place(found, self / name)


def _place(found: Path, path: Path) -> None:
    """Arrays are linked where the file system can; what people may edit is copied."""
    with atomic(path) as temporary:
        if found.suffix in ARRAYS:
            temporary.unlink()
            with suppress(OSError):
                os.link(found, temporary)
                return
        shutil.copyfile(found, temporary)
