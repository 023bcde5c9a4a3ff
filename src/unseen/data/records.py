"""Rows as Python dictionaries: lists of them, and JSON files, read some thousand rows at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from unseen.data.content import File
from unseen.data.rows import IfThere, Rows, require_columns
from unseen.data.values import COLLECTIONS, from_python, unified
from unseen.errors import TableError
from unseen.types import ROWS_AT_ONCE

SPACE = re.compile(r"[ \t\r\n]*")
HALF_A_PAIR = re.compile(rb"\\u[dD][89a-fA-F]")
JSON_KINDS = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}


def read_json(file: File, wanted: Sequence[str]) -> Rows:
    """The wanted keys of the objects in a JSON file: one per line, or in one array."""
    problems: list[str] = []
    chunks, known, is_array = _collected(file, wanted, problems)
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
    return Rows(_table(chunks, known, wanted, str(file.path)), str(file.path), settings, lines=lines)


def json_names(file: File) -> list[str]:
    """Every key that occurs in a JSON file; what is wrong with it is for `read_json` to say."""
    return _collected(file, (), [])[1]


def _collected(
    file: File, wanted: Sequence[str], problems: list[str]
) -> tuple[dict[str, list[pa.Array]], list[str], bool]:
    """Arrays per wanted key, every key that occurs, and whether the objects are in one array."""
    with file.open() as stream:
        is_array = stream.peek(1 << 12).lstrip()[:1] == b"["  # type: ignore[attr-defined]
        objects = in_array(stream.read(), problems) if is_array else on_lines(stream, problems)
        return *collect(objects, wanted, str(file.path)), is_array


def read_dicts(records: Sequence[Any], wanted: Sequence[str]) -> Rows:
    """The wanted keys of a list of dictionaries."""
    title = "the list of rows"
    strange = [position for position, record in enumerate(records) if not isinstance(record, Mapping)]
    if strange:
        raise TableError(
            "the rows of the list are not all dictionaries",
            expected="{'text': …, 'label': …} in every row",
            got=f"{type(records[strange[0]]).__name__} in row {strange[0]}; {len(strange)} such rows",
            fix="make each row a dictionary with the names of columns as keys",
        )
    chunks, known = collect(iter(records), wanted, title)
    return Rows(_table(chunks, known, wanted, title), title, {"format": "list of dict"})


def collect(
    records: Iterator[Mapping[str, Any]], wanted: Sequence[str], title: str
) -> tuple[dict[str, list[pa.Array]], list[str]]:
    """Arrays per wanted key, and every key that occurs; a row without a key has no value for it."""
    chunks: dict[str, list[pa.Array]] = {name: [] for name in wanted}
    known: dict[str, None] = {}
    while batch := list(islice(records, ROWS_AT_ONCE)):
        for record in batch:
            known.update(dict.fromkeys(record))
        for name in wanted:
            values = [record.get(name) for record in batch]
            if isinstance(name, IfThere):  # nobody asked for it: nested values are no reason to refuse the file
                values = [None if isinstance(each, (*COLLECTIONS, dict)) else each for each in values]
            chunks[name].append(from_python(values, column_of(name, title)))
    return chunks, [str(name) for name in known]


def column_of(name: str, title: str) -> str:
    """What messages call a column."""
    return f"the column {name!r} of {title}"


def _table(chunks: Mapping[str, list[pa.Array]], known: Sequence[str], wanted: Iterable[str], title: str) -> pa.Table:
    kept = require_columns(title, wanted, known) if known else list(wanted)
    return pa.table({name: unified(chunks[name], column_of(name, title)) for name in kept})


def on_lines(stream: Iterable[bytes], problems: list[str]) -> Iterator[dict[str, Any]]:
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


def in_array(content: bytes, problems: list[str]) -> Iterator[dict[str, Any]]:
    """The objects of one array; the first mistake in the JSON ends the reading."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as cause:
        problems.append(f"line {content.count(10, 0, cause.start) + 1}: {_complaint(cause)}")
        return
    decoder, position = json.JSONDecoder(), _skip(text, text.index("[") + 1)
    if text[position : position + 1] == "]":
        return
    separator = ","
    while separator == ",":
        position = _skip(text, position)
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
        position = _skip(text, end)
        separator, position = text[position : position + 1], position + 1
    if separator != "]" or _skip(text, position) < len(text):
        problems.append(f"line {_line(text, position - 1)}: the array is not closed, or something follows it")


def _kind(value: Any) -> str:
    return JSON_KINDS.get(type(value), "a number")


def _skip(text: str, position: int) -> int:
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


def lines_of(file: File, positions: Sequence[int]) -> list[int]:
    """Physical lines of the rows at these ascending positions."""
    found: list[int] = []
    row = 0
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            if len(found) == len(positions):
                break
            if line.isspace():
                continue
            if row == positions[len(found)]:
                found.append(number)
            row += 1
    return found
