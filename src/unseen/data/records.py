"""Rows as Python dictionaries: lists of them, and JSON files, read some thousand rows at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from unseen.data.columns import NESTED, from_python, unified
from unseen.data.files import File
from unseen.data.rows import IfThere, Rows, column_title, require_columns
from unseen.errors import TableError
from unseen.types import ROWS_AT_ONCE

SPACE = re.compile(r"[ \t\r\n]*")
HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
JSON_KINDS = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}

Chunks = dict[str, list[pa.Array]]
"""The values of each column, in arrays of some thousand rows."""


def read_json(file: File, names: Sequence[str]) -> Rows:
    """The keys `names` of the objects in a JSON file: one per line, or in one array."""
    problems: list[str] = []
    chunks, keys, is_array = _collected(file, names, problems)
    if problems:
        raise TableError(
            f"{file.path} is not JSON rows",
            problems=problems,
            expected="one object on each line, or one array of objects",
            got=f"{len(problems)} problem{'s' * (len(problems) > 1)}",
            fix="repair these lines; write one object per line, without line breaks inside it",
        )
    settings = {"format": "json", "encoding": file.encoding}
    lines = None if is_array else lambda positions: lines_of(file, positions)
    return Rows(_table(chunks, keys, names, str(file.path)), str(file.path), settings, lines)


def json_batches(file: File, names: Sequence[str]) -> Iterator[pa.Table]:
    """The keys `names` of the objects on the lines of a JSON file, some rows at a time."""
    title, problems = str(file.path), list[str]()
    if _is_array(file.head()):
        raise TableError(f"{title} is one JSON array", expected="one object on each line", fix="write JSONL or Parquet")
    with file.open() as stream:
        objects = _objects_on_lines(stream, problems)
        while not problems and (batch := list(islice(objects, ROWS_AT_ONCE // 8))):
            require_columns(title, names, list(dict.fromkeys(key for record in batch for key in record)))
            yield pa.table({name: _values(batch, name, title) for name in names})
    if problems:
        raise TableError(f"{title} is not JSON rows", problems=problems, expected="one object on each line")


def json_names(file: File) -> list[str]:
    """Every key that occurs in a JSON file; what is wrong with it is for `read_json` to say."""
    return _collected(file, (), [])[1]


def read_dicts(records: Sequence[Any], names: Sequence[str]) -> Rows:
    """The keys `names` of a list of dictionaries."""
    title = "the list of rows"
    strange = [position for position, record in enumerate(records) if not isinstance(record, Mapping)]
    if strange:
        raise TableError(
            "the rows of the list are not all dictionaries",
            expected="{'text': …, 'label': …} in every row",
            got=f"{type(records[strange[0]]).__name__} in row {strange[0]}; {len(strange)} such rows",
            fix="make each row a dictionary with the names of columns as keys",
        )
    chunks, keys = _chunks(iter(records), names, title)
    return Rows(_table(chunks, keys, names, title), title, {"format": "list of dict"})


def lines_of(file: File, positions: Sequence[int]) -> list[int]:
    """Physical lines of the rows at these ascending positions."""
    lines: list[int] = []
    row = 0
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            if len(lines) == len(positions):
                break
            if line.isspace():
                continue
            if row == positions[len(lines)]:
                lines.append(number)
            row += 1
    return lines


def _collected(file: File, names: Sequence[str], problems: list[str]) -> tuple[Chunks, list[str], bool]:
    """The values of `names`, every key that occurs, and whether the objects are in one array."""
    with file.open() as stream:
        is_array = _is_array(stream.peek(1 << 12))  # type: ignore[attr-defined]
        objects = _objects_in_array(stream.read(), problems) if is_array else _objects_on_lines(stream, problems)
        return *_chunks(objects, names, str(file.path)), is_array


def _is_array(head: bytes) -> bool:
    return head.lstrip()[:1] == b"["


def _chunks(records: Iterator[Mapping[str, Any]], names: Sequence[str], title: str) -> tuple[Chunks, list[str]]:
    """The values of `names`, and every key that occurs; a row without a key has no value for it."""
    chunks: Chunks = {name: [] for name in names}
    keys: dict[str, None] = {}
    while batch := list(islice(records, ROWS_AT_ONCE)):
        for record in batch:
            keys.update(dict.fromkeys(record))
        for name in names:
            chunks[name].append(_values(batch, name, title))
    return chunks, [str(key) for key in keys]


def _values(records: Sequence[Mapping[str, Any]], name: str, title: str) -> pa.Array:
    values = [record.get(name) for record in records]
    if isinstance(name, IfThere):  # nobody asked for it: nested values are no reason to refuse the file
        values = [None if isinstance(value, NESTED) else value for value in values]
    return from_python(values, column_title(name, title))


def _table(chunks: Chunks, keys: Sequence[str], names: Sequence[str], title: str) -> pa.Table:
    present = require_columns(title, names, keys) if keys else names
    return pa.table({name: unified(chunks[name], column_title(name, title)) for name in present})


def _objects_on_lines(stream: Iterable[bytes], problems: list[str]) -> Iterator[dict[str, Any]]:
    """The object on each line; lines that hold none go to `problems`."""
    for number, line in enumerate(stream, 1):
        if line.isspace():
            continue
        try:
            value = json.loads(line.decode("utf-8"))
            if isinstance(value, dict):
                if HALF_A_PAIR.search(line):
                    json.dumps(value, ensure_ascii=False).encode("utf-8")
                yield value
            else:
                problems.append(f"line {number}: {_kind(value)}, not an object")
        except (ValueError, RecursionError) as cause:
            problems.append(f"line {number}: {_complaint(cause)}")


def _objects_in_array(content: bytes, problems: list[str]) -> Iterator[dict[str, Any]]:
    """The objects of one array; the first mistake in the JSON ends the reading."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as cause:
        problems.append(f"line {content.count(10, 0, cause.start) + 1}: {_complaint(cause)}")
        return
    decoder, position = json.JSONDecoder(), _skip_space(text, text.index("[") + 1)
    if text[position : position + 1] == "]":
        return
    separator = ","
    while separator == ",":
        position = _skip_space(text, position)
        try:
            value, end = decoder.raw_decode(text, position)
            if isinstance(value, dict):
                json.dumps(value, ensure_ascii=False).encode("utf-8")
                yield value
            else:
                problems.append(f"line {_line(text, position)}: {_kind(value)}, not an object")
        except (ValueError, RecursionError) as cause:
            problems.append(f"line {_line(text, getattr(cause, 'pos', position))}: {_complaint(cause)}")
            return
        position = _skip_space(text, end)
        separator, position = text[position : position + 1], position + 1
    if separator != "]" or _skip_space(text, position) < len(text):
        problems.append(f"line {_line(text, position - 1)}: the array is not closed, or something follows it")


def _kind(value: Any) -> str:
    return JSON_KINDS.get(type(value), "a number")


def _skip_space(text: str, position: int) -> int:
    return SPACE.match(text, position).end()  # type: ignore[union-attr]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _complaint(cause: Exception) -> str:
    if isinstance(cause, UnicodeDecodeError):
        return "not UTF-8; name the encoding the file was written in: encoding=…"
    if isinstance(cause, UnicodeEncodeError):
        return "half a surrogate pair, which is no character"
    if isinstance(cause, json.JSONDecodeError):
        return f"not valid JSON: {cause.msg} (column {cause.colno})"
    return "not valid JSON: nested too deeply"
