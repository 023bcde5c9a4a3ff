"""The grammar of delimited text (RFC 4180): records, and the quotes that break them.

A quote at the start of a field opens it and must close right before a delimiter or the end of the
line; inside, two quotes stand for one. A quote anywhere else in a field is an ordinary character.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from mmap import mmap
from typing import NamedTuple

import numpy as np

QUOTE = ord('"')
QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')


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
        stop = re.escape(self.delimiter) + rb"\r\n"
        field = rb'(?:%s(?=[%s]|\Z)|(?!")[^%s]*+)' % (QUOTED.pattern, stop, stop)
        between = re.escape(self.delimiter)
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
                end = _next_line(content, quote, newline)
                row = content[quote:end]
            if row.strip(b"\r\n"):
                yield Record(line, position, end, quote)
            line += row.count(newline)
            position = end

    def fields(self, row: bytes) -> list[bytes]:
        """The fields of one sound record, unquoted."""
        found, position = [], 0
        while match := self._field.match(row, position):
            field = match.group()
            found.append(field[1:-1].replace(b'""', b'"') if field.startswith(b'"') else field)
            position = match.end() + 1
            if row[match.end() : position] != self.delimiter:
                break
        return found

    def width(self, row: bytes) -> int:
        """Number of fields of one sound record."""
        return len(self._next_field.findall(row)) if b'"' in row else row.count(self.delimiter) + 1

    def _broken_quote(self, content: bytes | mmap, position: int) -> int | None:
        while match := self._field.match(content, position):
            position = match.end() + 1
        return position if position < len(content) else None


def newline_of(content: bytes | mmap) -> bytes:
    """What ends a physical line: a line feed, or a carriage return in files that have no line feed."""
    return b"\n" if content.find(b"\n") >= 0 else b"\r"


def _next_line(content: bytes | mmap, position: int, newline: bytes) -> int:
    found = content.find(newline, position)
    return len(content) if found < 0 else found + 1


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
        self._seen = 0
        self._carried = b"\n"

    def feed(self, block: bytes) -> None:
        """Look at the next block; its last byte waits for the one after it."""
        data = np.frombuffer(self._carried + block, dtype=np.uint8)
        quotes = np.flatnonzero(data[1:-1] == QUOTE) + 1
        opening, closing = quotes[self._seen % 2 :: 2], quotes[1 - self._seen % 2 :: 2]
        self.sound &= bool(self._edge[data[opening - 1]].all() and self._edge[data[closing + 1]].all())
        self._seen += len(quotes)
        self._carried = data[-2:].tobytes()

    def finish(self) -> bool:
        """The verdict, after the last block."""
        self.feed(b"\n")
        return self.sound and self._seen % 2 == 0
