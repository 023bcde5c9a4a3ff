"""CSV and its relatives: the delimiter is found from the content, only the columns asked for are read.

The grammar is that of RFC 4180. A quote at the start of a field opens it and must close right before a delimiter or
the end of the line; inside, two quotes stand for one. A quote anywhere else in a field is an ordinary character.
pyarrow reads the rows, but it accepts NUL bytes, quotes that never close and text behind a closing quote without a
word. So a file is looked through first (`looks_sound`), and where something may be wrong, read with our own grammar,
which gives every problem its line (`refuse_broken`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from mmap import mmap
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from unseen.data.columns import STRINGS
from unseen.data.files import BLOCK, HEAD, File
from unseen.data.rows import Rows, require_columns
from unseen.errors import InputError, TableError

DELIMITERS = (",", "\t", ";", "|")
BLOCK_SIZES = (BLOCK, BLOCK << 4, 1 << 30)
"""A row must fit into one block, so a file with longer rows is read again with larger ones."""
BATCH_SIZE = BLOCK << 2
"""Bytes that are read at once where rows come batch by batch; the longest row has to fit."""
QUOTE = ord('"')
QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
MOST_PROBLEMS = 10_000
"""Problems collected before a hopeless file is given up."""
SHOWN_CHARACTERS = 40

Problem = tuple[int, str]
"""A physical line and what is wrong with it."""


def read_delimited(file: File, names: Sequence[str], delimiter: str | None) -> Rows:
    """The columns `names` of a delimited file, as strings."""
    present, separator = _layout(file, names, delimiter)
    settings = {"format": "delimited", "delimiter": separator, "encoding": file.encoding}
    table = _table(file, present, separator)
    return Rows(table, str(file.path), settings, lambda rows: lines_of(file, separator, rows), typed=False)


def delimited_batches(file: File, names: Sequence[str]) -> Iterator[pa.Table]:
    """The columns `names` of a delimited file, as strings, some rows at a time."""
    present, delimiter = _layout(file, names, None)
    try:
        with file.open() as stream:
            for batch in pacsv.open_csv(pa.PythonFile(stream, mode="r"), **_options(present, delimiter, BATCH_SIZE)):
                yield pa.Table.from_batches([batch])
    except (pa.ArrowInvalid, UnicodeDecodeError) as cause:
        refuse_broken(file, delimiter)
        raise TableError(
            f"{file.path} cannot be read", got=str(cause), fix="check the file, or write Parquet"
        ) from cause


def delimited_names(file: File, delimiter: str | None) -> list[str]:
    """The names on the first line."""
    head = file.head()
    return _header(file, head, delimiter or _find_delimiter(head, ())) if head.strip() else []


def lines_of(file: File, delimiter: str, positions: Sequence[int]) -> Sequence[int]:
    """Physical lines on which the rows at these ascending positions start; the header is no row."""
    if isinstance(positions, range) and _count_lines(file) == len(positions) + 1:
        return range(2, len(positions) + 2)  # every row, each on one line
    lines: list[int] = []
    with file.content() as content:
        for position, record in enumerate(Grammar(delimiter).records(content), -1):
            if len(lines) == len(positions):
                break
            if position == positions[len(lines)]:
                lines.append(record.line)
    return lines


def _count_lines(file: File) -> int:
    """Physical lines, the last one with or without its end."""
    newline, count, last = newline_of(file.head()), 0, b""
    for last in file.blocks():
        count += last.count(newline)
    return count + (not last.endswith(newline))


def _layout(file: File, names: Sequence[str], delimiter: str | None) -> tuple[list[str], str]:
    """Those of `names` that are there, and the delimiter; refuses a file that is broken or lacks columns."""
    if delimiter is not None:
        _check_delimiter(delimiter)
    head = file.head()
    if not head.strip():
        raise TableError(f"{file.path} is empty", expected="a line of column names, then rows", got="only blank lines")
    delimiter = delimiter or _find_delimiter(head, names)
    if b"\0" in head:
        refuse_broken(file, delimiter)
    present = require_columns(str(file.path), names, _header(file, head, delimiter))
    if not looks_sound(file, delimiter):
        refuse_broken(file, delimiter)
    return present, delimiter


def _check_delimiter(delimiter: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            f"{delimiter!r} cannot be a delimiter",
            expected="one ASCII character, not a quote or a line break",
            fix="leave it out: comma, tab, semicolon and pipe are found from the content",
        )


def _find_delimiter(head: bytes, names: Sequence[str]) -> str:
    """The delimiter that finds most of the names in the header, then the one that finds most columns."""

    def score(delimiter: str) -> tuple[int, int]:
        fields = _first_fields(head, delimiter) or []
        return len({name.encode() for name in names} & set(fields)), len(fields)

    return max(DELIMITERS, key=score)


def _first_fields(head: bytes, delimiter: str) -> list[bytes] | None:
    """The fields of the first record; None when a quote in it does not close."""
    grammar = Grammar(delimiter)
    record = next(grammar.records(head))
    return grammar.fields(head[record.start : record.end]) if record.quote is None else None


def _header(file: File, head: bytes, delimiter: str) -> list[str]:
    if len(head) == HEAD and newline_of(head) not in head:
        raise TableError(
            f"the first line of {file.path} is longer than {HEAD:,} bytes", expected="column names on the first line"
        )
    fields = _first_fields(head, delimiter)
    try:
        if fields is not None:
            return [field.decode("utf-8") for field in fields]
    except UnicodeDecodeError:
        pass
    refuse_broken(file, delimiter)
    raise TableError(f"{file.path} has no readable header", expected="column names on the first line")


def looks_sound(file: File, delimiter: str) -> bool:
    """Whether the file has no NUL byte and all its quotes stand at the edges of fields."""
    quotes = QuoteScan(delimiter)
    for block in file.blocks():
        quotes.feed(block)
        if b"\0" in block or not quotes.sound:
            return False
    return quotes.finish()


def _table(file: File, names: Sequence[str], delimiter: str) -> pa.Table:
    for size in BLOCK_SIZES:
        try:
            with file.open() as stream:
                return pacsv.read_csv(pa.PythonFile(stream, mode="r"), **_options(names, delimiter, size))
        except (pa.ArrowInvalid, UnicodeDecodeError) as cause:
            if "straddl" in str(cause):
                continue
            refuse_broken(file, delimiter)
            if "Empty CSV" in str(cause):
                return pa.table({name: pa.chunked_array([], STRINGS) for name in names})
            raise TableError(f"{file.path} cannot be read", got=str(cause), fix="check the file") from cause
    raise TableError(f"{file.path} has a row of more than a gigabyte", fix="look for an unpaired quote")


def _options(names: Sequence[str], delimiter: str, block_size: int) -> dict[str, Any]:
    return {
        "read_options": pacsv.ReadOptions(block_size=block_size),
        "parse_options": pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        "convert_options": pacsv.ConvertOptions(
            include_columns=list(names), column_types=dict.fromkeys(names, STRINGS)
        ),
    }


class Record(NamedTuple):
    """One row of a file."""

    line: int
    """Physical line it starts on, the first being 1."""
    start: int
    end: int
    quote: int | None = None
    """Position of a quote that does not close where it should; the record then ends with its line."""


class Grammar:
    """Records and fields for one delimiter."""

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter.encode("ascii")
        between = re.escape(self.delimiter)
        stop = between + rb"\r\n"
        field = rb'(?:%s(?=[%s]|\Z)|(?!")[^%s]*+)' % (QUOTED.pattern, stop, stop)
        self._field = re.compile(field)
        self._next_field = re.compile(rb"(?:\A|%s)%s" % (between, field))
        self._record = re.compile(rb"%s(?:%s%s)*+(?:\r\n|\r|\n|\Z)" % (field, between, field))

    def records(self, content: bytes | mmap) -> Iterator[Record]:
        """Every record of `content` but blank lines, the header included."""
        newline = newline_of(content)
        position, line, size = 0, 1, len(content)
        while position < size:
            match = self._record.match(content, position)
            quote = None if match else self._broken_quote(content, position)
            if quote is None:
                end = match.end() if match else size
                row = content[position:end]
            else:
                line += content[position:quote].count(newline)
                end = _line_end(content, quote, newline)
                row = content[quote:end]
            if row.strip(b"\r\n"):
                yield Record(line, position, end, quote)
            line += row.count(newline)
            position = end

    def fields(self, row: bytes) -> list[bytes]:
        """The fields of one sound record, unquoted."""
        fields, position = [], 0
        while match := self._field.match(row, position):
            field = match.group()
            fields.append(field[1:-1].replace(b'""', b'"') if field.startswith(b'"') else field)
            position = match.end() + 1
            if row[match.end() : position] != self.delimiter:
                break
        return fields

    def width(self, row: bytes) -> int:
        """Number of fields of one sound record."""
        return len(self._next_field.findall(row)) if b'"' in row else row.count(self.delimiter) + 1

    def _broken_quote(self, content: bytes | mmap, position: int) -> int | None:
        while match := self._field.match(content, position):
            position = match.end() + 1
        return position if position < len(content) else None


class QuoteScan:
    """Whether every quote of a file opens or closes a field, seen block by block.

    Where that holds, quotes alternate: the even ones stand at the start of a field or behind another
    quote, the odd ones at the end of a field or before another quote. `sound` is then True, and the
    file has no broken quotes. False means only that a closer look is needed.
    """

    def __init__(self, delimiter: str) -> None:
        self.sound = True
        self._edge = np.zeros(256, dtype=bool)
        self._edge[[ord(delimiter), QUOTE, ord("\n"), ord("\r")]] = True
        self._count = 0
        self._carried = b"\n"

    def feed(self, block: bytes) -> None:
        """Look at the next block; its last byte waits for the one after it."""
        data = np.frombuffer(self._carried + block, dtype=np.uint8)
        quotes = np.flatnonzero(data[1:-1] == QUOTE) + 1
        opening, closing = quotes[self._count % 2 :: 2], quotes[1 - self._count % 2 :: 2]
        self.sound &= bool(self._edge[data[opening - 1]].all() and self._edge[data[closing + 1]].all())
        self._count += len(quotes)
        self._carried = data[-2:].tobytes()

    def finish(self) -> bool:
        """The verdict, after the last block."""
        self.feed(b"\n")
        return self.sound and self._count % 2 == 0


def newline_of(content: bytes | mmap) -> bytes:
    """What ends a physical line: a line feed, or a carriage return in files that have no line feed."""
    return b"\n" if content.find(b"\n") >= 0 else b"\r"


def _line_end(content: bytes | mmap, position: int, newline: bytes) -> int:
    """Where the physical line at `position` ends."""
    end = content.find(newline, position)
    return len(content) if end < 0 else end + 1


def refuse_broken(file: File, delimiter: str) -> None:
    """Raise a TableError with every structural problem of the file; return when there is none."""
    with file.content() as content:
        of_bytes = list(islice(_byte_problems(content), MOST_PROBLEMS))
        problems = [*of_bytes, *islice(record_problems(content, Grammar(delimiter)), MOST_PROBLEMS)]
    if not problems:
        return
    kinds = {message.partition(":")[0] for _, message in of_bytes}
    advice = 'repair these lines; a field with the delimiter, a quote or a line break in it is written "so ""here"""'
    if "not UTF-8" in kinds:
        advice = "name the encoding the file was written in, e.g. encoding='cp1252', or repair these lines"
    elif "NUL byte" in kinds:
        advice = "if the file is UTF-16, encoding='utf-16'; otherwise remove the NUL bytes"
    raise TableError(
        f"{file.path} is not sound {delimiter!r}-separated text",
        problems=[f"line {line}: {message}" for line, message in sorted(problems)],
        expected="UTF-8, as many fields in each row as in the header, quotes in pairs",
        got=f"{len(problems)} problem{'s' * (len(problems) > 1)}",
        fix=advice,
    )


def _byte_problems(content: bytes | mmap) -> Iterator[Problem]:
    """Physical lines with NUL bytes or with bytes that are not UTF-8."""
    newline, number, start = newline_of(content), 0, 0
    while start < len(content):
        end = _line_end(content, start, newline)
        line, number, start = content[start:end], number + 1, end
        if b"\0" in line:
            yield number, f"NUL byte: at byte {line.index(0) + 1} of the line"
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as cause:
            yield number, f"not UTF-8: byte 0x{line[cause.start]:02x} at byte {cause.start + 1} of the line"


def record_problems(content: bytes | mmap, grammar: Grammar) -> Iterator[Problem]:
    """Quotes that do not close, and rows with more or fewer fields than the header."""
    newline, width = newline_of(content), None
    for position, record in enumerate(grammar.records(content)):
        if record.quote is not None:
            yield record.line, _quote_problem(content, record.quote, record.line)
            continue
        row = content[record.start : record.end]
        fields = grammar.width(row)
        width = fields if position == 0 else width
        if width is not None and fields != width:
            lone_return = " (a carriage return ends it)" if row.endswith(b"\r") and newline == b"\n" else ""
            yield record.line, f"{fields} field{'s' * (fields != 1)}, the header has {width}{lone_return}"


def _quote_problem(content: bytes | mmap, quote: int, line: int) -> str:
    def shown(start: int, size: int) -> str:
        lines = content[start : start + size].splitlines()
        return repr(lines[0].decode("utf-8", "replace") if lines else "")

    closed = QUOTED.match(content, quote)
    opening = shown(quote, SHOWN_CHARACTERS)
    if closed is None:
        return f"the quote that opens {opening} is never closed"
    closing_line = line + content[quote : closed.end()].count(newline_of(content))
    place = "this line" if closing_line == line else f"line {closing_line}"
    after = shown(closed.end(), SHOWN_CHARACTERS // 2)
    return f"the quote that opens {opening} closes on {place}, but {after} follows it instead of a delimiter"
