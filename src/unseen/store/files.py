"""Files that are either whole or not there."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.types import Origin

FORMULA = re.compile(r"^[=+\-@\t\r']")
NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it when the block ends without an error."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as cause:
        raise InputError(f"cannot write {path}: {cause.strerror}", fix="name a folder you may write to") from cause
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except IsADirectoryError as cause:
        raise InputError(f"cannot write {path}: it is a folder", fix="name a file") from cause
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: str | Path, text: str) -> Path:
    """Write `text` as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def write_json(path: str | Path, content: Mapping[str, Any]) -> Path:
    """Write `content` as readable JSON."""
    return write_text(path, json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n")


def read_json(path: str | Path) -> dict[str, Any]:
    """The JSON object in `path`."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as cause:
        raise InputError(f"cannot read {path}: {cause.strerror}") from cause
    except ValueError as cause:
        raise InputError(f"{path} is not valid JSON: {cause}") from cause
    if not isinstance(content, dict):
        raise InputError(f"{path} does not hold a JSON object", got=type(content).__name__)
    return content


def sha256_of(path: str | Path) -> str:
    """Hash of a file's bytes."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, set | frozenset | range):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def harmless(field: str) -> str:
    """`field` so that no spreadsheet runs it as a formula; `unharmed` undoes it exactly."""
    return f"'{field}" if FORMULA.match(field) and not NUMBER.match(field) else field


def unharmed(field: str) -> str:
    """The field that `harmless` was given."""
    return field[1:] if field.startswith("'") else field


def origin_from(content: Mapping[str, Any]) -> Origin:
    """The Origin stored as `content`."""
    return Origin(**{each.name: content[each.name] for each in fields(Origin) if each.name in content})
