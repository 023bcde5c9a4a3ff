"""Files that are either whole or not there, locks on them, and folders that do not outlive their process."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import re
import secrets
import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO, TypeVar

from filelock import FileLock

from unseen.errors import InputError, TableError, UnseenError, complaint
from unseen.types import Origin

Made = TypeVar("Made")
FORMULA = re.compile(r"^[=+\-@\t\r']")
NUMBER = re.compile(r"^[+-]?\d+(\.\d+)?$")
MOST_PARTS = 100
LONG_KEY = re.compile(
    rf"""(?m)(?:^|[\[{{,])[ \t]*(?:(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*\.[ \t]*){{{MOST_PARTS}}}"""
)
"""A key of TOML with more parts than anybody writes, `a.b."c d"` and so on."""
LONGEST_NAME = 120
"""Bytes in the name of a file that is named after something; file systems take 255 with what is added."""
PREFIX, LOCK = "unseen-", "in-use"
"""Of folders that do not outlive their process."""


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary file beside `path` that replaces it when the block ends without an error."""
    path = Path(path)
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "not a regular file"
            raise InputError(f"cannot write {path}: it is {what}", fix="name a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch(exist_ok=False)
    except OSError as cause:
        raise InputError(f"cannot write {path}: {cause.strerror}", fix="name a folder you may write to") from cause
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def lock(path: Path, *, wait: bool) -> FileLock:
    """A block that holds `path`; without `wait` it raises filelock's `Timeout`, an OSError, where another holds it.

    One process at a time holds it, and it is free again however that process ends.
    """
    # without a soft lock, which is a file that a killed process leaves behind; and whichever thread ends the block
    return FileLock(path, blocking=wait, fallback_to_soft=False, thread_local=False)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that nobody else can read, gone when the block ends; those that killed processes left go first."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made, lock(Path(made) / LOCK, wait=True):
        yield Path(made)


def _remove_abandoned() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):  # in use, another user's, or gone meanwhile
            if path.parent.stat().st_uid == os.getuid():
                with lock(path, wait=False):
                    shutil.rmtree(path.parent)


@contextmanager
def door(path: str | Path, what: str) -> Iterator[None]:
    """A block that reads a file of anybody's: whatever a library makes of damage is an error about the file."""
    try:
        yield
    except UnseenError:
        raise
    except (Warning, MemoryError):
        raise
    except Exception as cause:
        reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else f"{type(cause).__name__}: {cause}"
        raise InputError(f"{path} does not hold {what}: {reason}") from cause


def missing_file(path: str | Path, expected: str | None = None) -> InputError:
    """The error about a file that is not there, with the files whose names are near."""
    return InputError(f"there is no file {path}", expected=expected, fix=_near_files(Path(path)))


def _near_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either: check the path"
    near = get_close_matches(path.name, sorted(file.name for file in path.parent.iterdir()), n=3)
    return f"did you mean {' or '.join(repr(str(path.parent / name)) for name in near)}?" if near else "check the path"


def write_text(path: str | Path, text: str) -> Path:
    """Write `text` as UTF-8."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return Path(path)


def write_json(path: str | Path, content: Mapping[str, Any]) -> Path:
    """Write `content` as readable JSON."""
    return write_text(path, json_text(content))


def json_text(content: Mapping[str, Any]) -> str:
    """`content` as readable JSON that can be written as UTF-8."""
    text = json.dumps(content, indent=2, ensure_ascii=False, default=_plain) + "\n"
    # a file name that is not UTF-8 holds lone surrogates; Python's backslash form of them is JSON's
    return text.encode("utf-8", "backslashreplace").decode()


def read_parsed(path: str | Path, parse: Callable[[str], Made], what: str) -> Made:
    """What `parse` makes of the text in `path`, which should be `what`."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except UnseenError:
        raise
    except FileNotFoundError as cause:
        raise missing_file(path) from cause
    except OSError as cause:
        raise InputError(f"cannot read {path}: {cause.strerror}") from cause
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path} is not {what}: {complaint(cause)}") from cause


def read_json(path: str | Path) -> dict[str, Any]:
    """The JSON object in `path`."""
    content = read_parsed(path, json.loads, "valid JSON")
    if not isinstance(content, dict):
        raise InputError(f"{path} does not hold a JSON object", got=type(content).__name__)
    return content


def read_toml(path: str | Path) -> dict[str, Any]:
    """The TOML table in `path`."""
    return read_parsed(path, parsed_toml, "TOML")


def parsed_toml(text: str) -> dict[str, Any]:
    """The table in a TOML text of anybody's; the memory that a key takes grows with the square of its parts."""
    if LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    return tomllib.loads(text)


def holds(path: Path, keys: set[str]) -> bool:
    """Whether `path` is a JSON object with at least these keys."""
    if not path.is_file():
        return False
    try:
        return keys <= read_json(path).keys()
    except InputError:
        return False


def twin_of(path: Path, keys: set[str]) -> Path:
    """Where the description of `path` is written: beside it, as .json; refuses to replace somebody else's file."""
    twin = path.with_suffix(".json")
    if twin.exists() and not holds(twin, keys):
        raise InputError(
            f"{twin} is not a file of unseen's and would be overwritten",
            fix=f"write {path.name} to another folder or under another name",
        )
    return twin


def content_of(path: str | Path) -> str:
    """Hash of the names and bytes of all files in a folder; empty for what is no folder.

    A file that has neither another size nor another time than before is not read again in this process.
    """
    folder = Path(path)
    files = sorted(file for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else []
    digests = [[str(file.relative_to(folder)), _digest(str(file), *_state(file))] for file in files]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest() if digests else ""


def _state(path: Path) -> tuple[int, int, int]:
    about = path.stat()
    return about.st_size, about.st_mtime_ns, about.st_ino


@lru_cache(maxsize=4096)
def _digest(path: str, *_state: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


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


def as_written(fields: list[str], known: Iterable[str]) -> list[str]:
    """Fields of a file that `harmless` may have guarded, as they were; somebody else's file has them as they are."""
    known = set(known)
    plain = [unharmed(field) for field in fields]
    return plain if known.issuperset(plain) and not known.issuperset(fields) else fields


def csv_rows(file: TextIO) -> Callable[[Sequence[Any]], Any]:
    """A function that writes one row to `file`; csv.writer leaves a carriage return unquoted in Python 3.11."""
    plain = csv.writer(file, lineterminator="\n")
    quoting = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    return lambda row: (quoting if "\r" in "".join(map(str, row)) else plain).writerow(row)


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Write a CSV file that `read_rows` reads: the columns, then a line per row."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(columns)
        for row in rows:
            write_row(row)
    return Path(path)


def read_rows(
    path: str | Path, what: str, columns: Sequence[str], make: Callable[[dict[str, str]], Made]
) -> list[Made]:
    """What `make` makes of each row of a CSV file of ours that begins with `columns`; all wrong rows in one error."""
    records, problems = [], []
    try:
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if list(reader.fieldnames or [])[: len(columns)] != list(columns):
                raise InputError(f"{path} does not hold {what}", expected=f"the columns {', '.join(columns)}")
            for line in reader:
                try:
                    if None in line or None in line.values():
                        raise ValueError("not as many fields as the header has")
                    records.append(make(line))
                except (ValueError, RecursionError) as cause:
                    problems.append(f"line {reader.line_num}: {complaint(cause)}")
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause
    if problems:
        raise TableError(f"{path} has wrong rows", problems=problems)
    return records


def origin_from(content: Mapping[str, Any]) -> Origin:
    """The Origin stored as `content`."""
    if not isinstance(content, Mapping) or "step" not in content:
        raise InputError("a record does not say how it was made", expected="an origin with its step")
    return Origin(**{field.name: content[field.name] for field in fields(Origin) if field.name in content})


def file_name(name: str) -> str:
    """The name of a split or a model as a file's; a long one is cut and told apart by a hash."""
    made = re.sub(r"[^\w.+=,-]+", "_", name)
    if len(made.encode()) <= LONGEST_NAME:
        return made
    beginning = made.encode()[: LONGEST_NAME - 9].decode(errors="ignore")
    return f"{beginning}-{hashlib.sha256(name.encode(errors='replace')).hexdigest()[:8]}"
