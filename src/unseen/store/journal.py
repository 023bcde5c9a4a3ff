"""Append-only files of what people do: a line of JSON for each thing, on the disk before the next one is asked for.

Nothing in such a file is ever changed or removed. Whatever ends the program loses nothing but a line that was being
written; the next line that is added says that the one before it was cut off.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.errors import InputError, TableError, UnseenWarning
from unseen.store.files import door

CUT = "cut"
"""Key of a line that says that the one before it was not finished."""


def append_entry(path: str | Path, entry: Mapping[str, Any]) -> None:
    """Add a line; it is on the disk when this returns."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(0)
        unfinished = file.read().rpartition(b"\n")[2]
        before = b"" if not unfinished else b"\n" if _content(unfinished) else b'\n{"cut": true}\n'
        file.write(before + json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_entries(path: str | Path, what: str, take: Callable[[Mapping[str, Any]], None]) -> None:
    """Give each entry to `take`, in order; a cut last line is left out, all lines that it refuses are one error."""
    path, problems = Path(path), []
    with door(path, what):
        lines = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip() and (entry := _entry(line)) != {CUT: True}:
                take(entry)
        except (InputError, ValueError, RecursionError) as cause:
            if number == len(lines):  # every whole line ends with a line feed
                warnings.warn(f"the last line of {path} was cut off and is left out", UnseenWarning, stacklevel=3)
            elif _content(lines[number]) != {CUT: True}:
                problems.append(f"line {number}: {cause.message if isinstance(cause, InputError) else cause}")
    if problems:
        raise TableError(f"{path} has lines that are no {what}", problems=problems)


def now() -> str:
    """The time as these files have it: UTC, as ISO 8601 has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def pseudonym(name: str) -> str:
    """What stands for the name of a person: a hash, so whoever has a list of names can tell whose it is."""
    if not name.strip():
        raise InputError("a person needs a name", got=repr(name))
    return hashlib.sha256(f"person/{name.strip()}".encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _entry(line: bytes) -> Mapping[str, Any]:
    entry = json.loads(line.decode("utf-8"))
    if not isinstance(entry, Mapping):
        raise ValueError("not an object of JSON")
    return entry


def _content(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
