"""Our grammar of delimited text is that of pyarrow and of the csv module, minus what they swallow."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unseen.data.delimited import Grammar, QuoteScan, record_problems

PIECES = [b"x", b"y", b'"', b",", b"\n", b"\r\n", b"\r", b'"",', b'",', b',"', b'\n"', b'"\n']
bodies = st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join)


def read_by_pyarrow(content: bytes) -> list[list[bytes]] | None:
    strings = dict.fromkeys("ab", pa.large_binary())
    try:
        table = pacsv.read_csv(
            io.BytesIO(content),
            parse_options=pacsv.ParseOptions(newlines_in_values=True),
            convert_options=pacsv.ConvertOptions(column_types=strings),
        )
    except pa.ArrowInvalid as cause:
        return [] if "Empty CSV" in str(cause) else None
    return [list(row.values()) for row in table.to_pylist()]


def rows_by_grammar(content: bytes) -> list[list[bytes]]:
    grammar = Grammar(",")
    return [grammar.fields(content[record.start : record.end]) for record in grammar.records(content)][1:]


def scanned(content: bytes, size: int = 3) -> bool:
    scan = QuoteScan(",")
    for start in range(0, len(content), size):
        scan.feed(content[start : start + size])
    return scan.finish()


@given(bodies, st.integers(1, 7))
@example(b'1,"', 3)
@example(b'"x,y\n"3",4\n', 3)
def test_sound_text_is_read_as_pyarrow_reads_it_and_the_scan_never_passes_broken_text(body: bytes, size: int) -> None:
    content = b"a,b\n" + body
    problems = list(record_problems(content, Grammar(",")))
    by_pyarrow = read_by_pyarrow(content)
    if not problems:
        assert by_pyarrow == rows_by_grammar(content)
    if scanned(content, size):
        assert bool(problems) == (by_pyarrow is None)


@given(st.lists(st.lists(st.text(alphabet='ab",\n\r\t é'), min_size=2, max_size=2), max_size=5))
def test_what_the_csv_module_writes_is_sound(rows: list[list[str]]) -> None:
    file = io.StringIO()
    csv.writer(file).writerows([["a", "b"], *rows])
    content = file.getvalue().encode()
    assert scanned(content)
    assert rows_by_grammar(content) == [[field.encode() for field in row] for row in rows]


@pytest.mark.parametrize(
    ("content", "sound"),
    [
        (b'a,b\n"x","y ""z"""\n', True),
        (b'a,b\n"",""\n', True),
        (b'a,b\nx,5" wide\n', False),
        (b'a,b\n"x"y,z\n', False),
        (b'a,b\n"x,z\n', False),
        (b"a,b\nx,y\n", True),
    ],
)
def test_quotes_that_need_a_closer_look(content: bytes, sound: bool) -> None:
    assert {scanned(content, size) for size in range(1, 9)} == {sound}


def test_records_know_their_physical_line() -> None:
    content = b'\na,b\r\n"1\r\n2",x\r\n\r\n3,y'
    assert [record.line for record in Grammar(",").records(content)] == [2, 3, 6]
    assert [record.line for record in Grammar("|").records(b"a|b\r1|2\r\r3|4")] == [1, 2, 4]
