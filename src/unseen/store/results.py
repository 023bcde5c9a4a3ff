"""Results of steps, each found by the key of everything that decided it.

A result is a folder that is whole or not there: it is filled under another name and moved into its place
when it is done. Several runs, and several processes, may share one store.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from unseen.errors import InputError
from unseen.store.files import holds, lock, read_json, sha256_of, write_json

RECORD = "step.json"
KEYS = {"key", "seconds", "files"}


def key_of(name: str, decides: Any) -> str:
    """Hash of a name and of everything that decides what it stands for."""
    content = json.dumps([name, decides], sort_keys=True, default=_plain, ensure_ascii=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value.tolist() if hasattr(value, "tolist") else str(value)


class Results:
    """The store in one folder."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def folder(self, key: str) -> Path:
        """Where the result of a step lies, or will."""
        return self.path / key[:2] / key

    def has(self, key: str) -> bool:
        """Whether the step was finished and its result is as it was then; a damaged one is done again."""
        folder = self.folder(key)
        if not holds(folder / RECORD, KEYS):
            return False
        files = read_json(folder / RECORD)["files"]
        return isinstance(files, Mapping) and all(_is_whole(folder / name, digest) for name, digest in files.items())

    def record(self, key: str) -> dict[str, Any]:
        """What is known about a finished step: its settings, seconds and files."""
        return read_json(self.folder(key) / RECORD)

    def scratch(self, key: str) -> Path:
        """Where an unfinished step keeps what it needs to go on after an interruption."""
        return self.path / "unfinished" / key

    @contextmanager
    def claimed(self, key: str) -> Iterator[None]:
        """Wait until no other process does this step, and keep it from them."""
        place = self.path / "claims" / key
        _make(place.parent)
        with lock(place, wait=True):
            yield

    @contextmanager
    def writing(self, key: str, about: Mapping[str, Any]) -> Iterator[Path]:
        """An empty folder that becomes the result when the block ends well; for who has claimed the step."""
        place = self.folder(key)
        for left in place.parent.glob(f".{key[:16]}.*.part"):
            shutil.rmtree(left, ignore_errors=True)  # by one who was killed
        temporary = place.parent / f".{key[:16]}.{secrets.token_hex(4)}.part"
        _make(temporary)
        begun = monotonic()
        try:
            yield temporary
            files = {
                str(path.relative_to(temporary)): sha256_of(path)
                for path in sorted(temporary.rglob("*"))
                if path.is_file()
            }
            seconds = round(monotonic() - begun, 3)
            # what the block knows better, such as the seconds of another machine, stands
            write_json(temporary / RECORD, {"key": key, "seconds": seconds, "files": files} | dict(about))
            shutil.rmtree(place, ignore_errors=True)  # what is left of a damaged one
            os.rename(temporary, place)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(self.scratch(key), ignore_errors=True)

    def made(self, key: str, about: Mapping[str, Any], make: Callable[[Path], None]) -> Path:
        """The folder of a result, which `make` fills now unless it is there."""
        if not self.has(key):
            with self.claimed(key), self.writing(key, about) as folder:
                make(folder)
        return self.folder(key)


def _is_whole(path: Path, digest: object) -> bool:
    """Whether a file has the hash it was written with; a file that was not touched since is hashed once a process."""
    try:
        known = path.stat()
    except OSError:
        return False
    mark = (str(path), known.st_size, known.st_mtime_ns)
    if mark not in _hashed:
        _hashed[mark] = sha256_of(path) if path.is_file() else ""
    return _hashed[mark] == digest


_hashed: dict[tuple[str, int, int], str] = {}


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"cannot write to {folder}: {cause.strerror}", fix="name a folder you may write to") from cause
