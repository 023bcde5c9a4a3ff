"""CSV and its relatives: the delimiter is found from the content, only the columns asked for are read."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.csv as pacsv

from unseen.data.content import BLOCK, HEAD, File
from unseen.data.diagnosis import refuse_broken
from unseen.data.grammar import Grammar, QuoteScan, newline_of
from unseen.data.rows import Rows, require_columns
from unseen.data.values import STRINGS
from unseen.errors import InputError, TableError

DELIMITERS = (",", "\t", ";", "|")
BLOCK_SIZES = (BLOCK, BLOCK << 4, 1 << 30)
"""A row must fit into one block, so a file with longer rows is read again with larger ones."""


def read_delimited(file: File, wanted: Sequence[str], delimiter: str | None) -> Rows:
    """The wanted columns of a delimited file, as strings."""
    if delimiter is not None:
        check_delimiter(delimiter)
    head = file.head()
    if not head.strip():
        raise TableError(f"{file.path} is empty", expected="a line of column names, then rows", got="only blank lines")
    found = delimiter or find_delimiter(head, wanted)
    if b"\0" in head:
        refuse_broken(file, found)
    wanted = require_columns(str(file.path), wanted, _header(file, head, found))
    if not looks_sound(file, found):
        refuse_broken(file, found)
    return Rows(
        _parsed(file, wanted, found),
        str(file.path),
        {"format": "delimited", "delimiter": found, "encoding": file.encoding},
        lines=lambda positions: lines_of(file, found, positions),
        typed=False,
    )


def column_names(file: File, delimiter: str | None) -> list[str]:
    """The names on the first line."""
    head = file.head()
    return _header(file, head, delimiter or find_delimiter(head, ())) if head.strip() else []


def check_delimiter(delimiter: str) -> None:
    """Refuse what cannot separate fields."""
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            f"{delimiter!r} cannot be a delimiter",
            expected="one ASCII character, not a quote or a line break",
            fix="leave it out: comma, tab, semicolon and pipe are found from the content",
        )


def find_delimiter(head: bytes, wanted: Sequence[str]) -> str:
    """The delimiter that finds most of the wanted names in the header, then the one that finds most columns."""

    def found(delimiter: str) -> tuple[int, int]:
        names = first_fields(head, delimiter) or []
        return len({name.encode() for name in wanted} & set(names)), len(names)

    return max(DELIMITERS, key=found)


def first_fields(head: bytes, delimiter: str) -> list[bytes] | None:
    """The fields of the first record; None when a quote in it does not close."""
    grammar = Grammar(delimiter)
    record = next(grammar.records(head))
    return grammar.fields(head[record.start : record.end]) if record.quote is None else None


def _header(file: File, head: bytes, delimiter: str) -> list[str]:
    if len(head) == HEAD and newline_of(head) not in head:
        raise TableError(
            f"the first line of {file.path} is longer than {HEAD:,} bytes", expected="column names on the first line"
        )
    names = first_fields(head, delimiter)
    try:
        if names is not None:
            return [name.decode("utf-8") for name in names]
    except UnicodeDecodeError:
        pass
    refuse_broken(file, delimiter)
    raise TableError(f"{file.path} has no readable header", expected="column names on the first line")


def looks_sound(file: File, delimiter: str) -> bool:
    """Whether the file has no NUL byte and all its quotes stand at the edges of fields.

    pyarrow accepts NUL bytes, quotes that never close and text behind a closing quote without a word.
    """
    quotes = QuoteScan(delimiter)
    for block in file.blocks():
        quotes.feed(block)
        if b"\0" in block or not quotes.sound:
            return False
    return quotes.finish()


def _parsed(file: File, wanted: Sequence[str], delimiter: str) -> pa.Table:
    try:
        table = _read(file, wanted, delimiter)
    except (pa.ArrowInvalid, UnicodeDecodeError) as cause:
        refuse_broken(file, delimiter)
        if "Empty CSV" not in str(cause):
            raise TableError(f"{file.path} cannot be read", got=str(cause), fix="check the file") from cause
        table = pa.table({name: pa.chunked_array([], STRINGS) for name in wanted})
    return table


def _read(file: File, wanted: Sequence[str], delimiter: str) -> pa.Table:
    for size in BLOCK_SIZES:
        try:
            with file.open() as stream:
                return pacsv.read_csv(
                    pa.PythonFile(stream, mode="r"),
                    read_options=pacsv.ReadOptions(block_size=size),
                    parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                    convert_options=pacsv.ConvertOptions(
                        include_columns=list(wanted), column_types=dict.fromkeys(wanted, STRINGS)
                    ),
                )
        except pa.ArrowInvalid as cause:
            if "straddl" not in str(cause):
                raise
    raise TableError(f"{file.path} has a row of more than a gigabyte", fix="look for an unpaired quote")


def lines_of(file: File, delimiter: str, positions: Sequence[int]) -> list[int]:
    """Physical lines on which the rows at these ascending positions start; the header is no row."""
    found: list[int] = []
    with file.content() as content:
        for position, record in enumerate(Grammar(delimiter).records(content), -1):
            if len(found) == len(positions):
                break
            if position == positions[len(found)]:
                found.append(record.line)
    return found
