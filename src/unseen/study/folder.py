"""A run folder: one writer at a time, and steps that are done once.

A step is known by its name and a key, the hash of everything that decides its result. Its record is written
after its files, so whatever was interrupted is simply done again; what is finished is not.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from unseen.errors import InputError
from unseen.store import read_json, write_json
from unseen.store.files import holds

RECORDS = ".steps"
OURS = {"run.json", RECORDS}


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

    def step(self, name: str, decides: Any, files: Sequence[str], make: Callable[[], None]) -> str:
        """Do `make`, which writes `files`, unless that was done before; returns the key of the step."""
        key = key_of(name, decides)
        if self.is_done(name, key, files):
            return key
        begun = monotonic()
        make()
        missing = [file for file in files if not (self / file).exists()]
        if missing:
            raise InputError(f"the step {name!r} has not written {', '.join(missing)}")
        write_json(self._record(name), {"key": key, "seconds": round(monotonic() - begun, 2), "files": list(files)})
        return key

    def is_done(self, name: str, key: str, files: Sequence[str]) -> bool:
        """Whether the step has left its record and its files are there."""
        record = self._record(name)
        return (
            holds(record, {"key"}) and read_json(record)["key"] == key and all((self / file).exists() for file in files)
        )

    def has(self, name: str) -> bool:
        """Whether a step of that name was ever finished here."""
        return holds(self._record(name), {"key"})

    def timings(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """Seconds of each finished step."""
        return [
            {"step": name, "seconds": read_json(self._record(name))["seconds"]}
            for name in names
            if holds(self._record(name), {"seconds"})
        ]

    def scratch(self, name: str) -> Path:
        """Where a step keeps what it needs to go on after an interruption."""
        return self.path / RECORDS / name

    def _record(self, name: str) -> Path:
        return self.path / RECORDS / f"{name}.json"


def key_of(name: str, decides: Any) -> str:
    """Hash of a step's name and of everything that decides its result."""
    said = json.dumps([name, decides], sort_keys=True, default=str, ensure_ascii=True)
    return hashlib.sha256(said.encode()).hexdigest()
