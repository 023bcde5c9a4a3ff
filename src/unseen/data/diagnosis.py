"""The careful look at a delimited file in which something is wrong: every problem, with its line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from mmap import mmap

from unseen.data.content import File
from unseen.data.grammar import QUOTED, Grammar, Record, newline_of
from unseen.errors import TableError

MOST_PROBLEMS = 10_000
"""Problems collected before a hopeless file is given up."""
SHOWN_CHARACTERS = 40

Problem = tuple[int, str]


def refuse_broken(file: File, delimiter: str) -> None:
    """Raise a TableError with every structural problem of the file; return when there is none."""
    with file.content() as content:
        found = [*islice(byte_problems(content), MOST_PROBLEMS)]
        kinds = {message.partition(":")[0] for _, message in found}
        found += islice(record_problems(content, Grammar(delimiter)), MOST_PROBLEMS)
    if not found:
        return
    raise TableError(
        f"{file.path} is not sound {delimiter!r}-separated text",
        problems=[f"line {line}: {message}" for line, message in sorted(found)],
        expected="UTF-8, as many fields in each row as in the header, quotes in pairs",
        got=f"{len(found)} problem{'s' * (len(found) > 1)}",
        fix=_advice(kinds),
    )


def _advice(kinds: set[str]) -> str:
    if "not UTF-8" in kinds:
        return "name the encoding the file was written in, e.g. encoding='cp1252', or repair these lines"
    if "NUL byte" in kinds:
        return "if the file is UTF-16, encoding='utf-16'; otherwise remove the NUL bytes"
    return 'repair these lines; a field with the delimiter, a quote or a line break in it is written "so ""here"""'


def byte_problems(content: bytes | mmap) -> Iterator[Problem]:
    """Lines with NUL bytes or with bytes that are not UTF-8."""
    for number, line in enumerate(physical_lines(content), 1):
        if b"\0" in line:
            yield number, f"NUL byte: at byte {line.index(0) + 1} of the line"
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as cause:
            yield number, f"not UTF-8: byte 0x{line[cause.start]:02x} at byte {cause.start + 1} of the line"


def physical_lines(content: bytes | mmap) -> Iterator[bytes]:
    """The lines an editor shows."""
    newline, start = newline_of(content), 0
    while start < len(content):
        found = content.find(newline, start)
        end = len(content) if found < 0 else found + 1
        yield content[start:end]
        start = end


def record_problems(content: bytes | mmap, grammar: Grammar) -> Iterator[Problem]:
    """Quotes that do not close, and rows with more or fewer fields than the header."""
    width = None
    for position, record in enumerate(grammar.records(content)):
        if record.quote is not None:
            yield record.line, _quote_problem(content, record.quote, record.line)
            continue
        fields = grammar.width(content[record.start : record.end])
        width = fields if position == 0 else width
        if width is not None and fields != width:
            said = f"{fields} field{'s' * (fields != 1)}, the header has {width}"
            yield record.line, said + _lone_return(content, record)


def _quote_problem(content: bytes | mmap, quote: int, line: int) -> str:
    closed = QUOTED.match(content, quote)
    shown = _shown(content[quote : quote + SHOWN_CHARACTERS])
    if closed is None:
        return f"the quote that opens {shown} is never closed"
    closing = line + content[quote : closed.end()].count(newline_of(content))
    after = _shown(content[closed.end() : closed.end() + SHOWN_CHARACTERS // 2])
    place = "this line" if closing == line else f"line {closing}"
    return f"the quote that opens {shown} closes on {place}, but {after} follows it instead of a delimiter"


def _shown(piece: bytes) -> str:
    lines = piece.splitlines()
    return repr(lines[0].decode("utf-8", "replace") if lines else "")


def _lone_return(content: bytes | mmap, record: Record) -> str:
    ends_in_return = content[record.end - 1 : record.end] == b"\r"
    return " (a carriage return ends it)" if ends_in_return and newline_of(content) == b"\n" else ""
