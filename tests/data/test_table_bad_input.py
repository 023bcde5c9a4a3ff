"""Everything that can be wrong with a file or an argument gives one error that says where and what to do."""

from __future__ import annotations

import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unseen.data import files, load_table
from unseen.errors import InputError, TableError, UnknownNameError, UnseenError, UnseenWarning

GOOD = b"text,label\nfine day,no\nbad day,yes\n"


def parquet_bytes(**columns: list[Any]) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


WHOLE_PARQUET = parquet_bytes(text=["a", "b"], label=["x", "y"])

# name of the case: (file name, content, arguments, error, what its text must contain)
CASES: dict[str, tuple[str, bytes, dict[str, Any], type[UnseenError], list[str]]] = {
    "missing column": (
        "a.csv",
        GOOD,
        {"label": "lable", "attributes": ["usr"]},
        UnknownNameError,
        ["'lable' is missing; did you mean 'label'?", "'usr' is missing", "'text', 'label'", "a.csv"],
    ),
    "missing key": ("a.jsonl", b'{"text": "a", "lbl": 1}\n', {}, UnknownNameError, ["'label'", "did you mean 'lbl'"]),
    "missing in parquet": ("a.parquet", WHOLE_PARQUET, {"text": "txt"}, UnknownNameError, ["did you mean 'text'"]),
    "empty file": ("a.csv", b"", {}, TableError, ["a.csv is empty", "no bytes"]),
    "empty gzip": ("a.csv.gz", gzip.compress(b""), {}, TableError, ["is empty"]),
    "blank lines only": ("a.csv", b"\n \r\n\n", {}, TableError, ["is empty", "only blank lines"]),
    "header only": ("a.csv", b"text,label\n", {}, TableError, ["column names, but no rows"]),
    "header without line end": ("a.csv", b"text,label", {}, TableError, ["column names, but no rows"]),
    "empty array": ("a.json", b"[]", {}, TableError, ["no rows"]),
    "ragged rows": (
        "a.csv",
        b'text,label\n"two\nlines",no\n\nb,yes,extra\nc\nd,no\n',
        {},
        TableError,
        ["line 5: 3 fields, the header has 2", "line 6: 1 field, the header has 2", "2 problems"],
    ),
    "a line of spaces": ("a.csv", b"text,label\na,no\n   \nb,yes\n", {}, TableError, ["line 3: 1 field"]),
    "lone carriage return": (
        "a.csv",
        b"text,label\na\rb,no\nc,yes\n",
        {},
        TableError,
        ["line 2: 1 field, the header has 2 (a carriage return ends it)"],
    ),
    "bad UTF-8": (
        "a.csv",
        b"text,label\ncaf\xe9,no\nok,yes\nna\xefve,no\n",
        {},
        TableError,
        ["line 2: not UTF-8: byte 0xe9 at byte 4", "line 4: not UTF-8: byte 0xef", "encoding='cp1252'"],
    ),
    "bad UTF-8 in the header": ("a.csv", b"text,label,\xe9\na,no,\nb,yes,\n", {}, TableError, ["line 1: not UTF-8"]),
    "bad UTF-8 with carriage returns": ("a.csv", b"text,label\ra,no\rcaf\xe9,yes\r", {}, TableError, ["line 3: not"]),
    "bad UTF-8 in JSON": (
        "a.jsonl",
        b'{"text": "a", "label": 1}\n{"text": "\xe9", "label": 1}\n',
        {},
        TableError,
        ["line 2: not UTF-8", "encoding="],
    ),
    "UTF-16": ("a.csv", GOOD.decode().encode("utf-16"), {}, TableError, ["UTF-16", "encoding='utf-16'"]),
    "UTF-32": ("a.csv", GOOD.decode().encode("utf-32"), {}, TableError, ["UTF-32", "encoding='utf-32'"]),
    "UTF-16 without mark": ("a.csv", GOOD.decode().encode("utf-16-le"), {}, TableError, ["NUL byte", "'utf-16'"]),
    "wrong encoding named": (
        "a.csv",
        b"text,label\nok,no\n\xff\xff,yes\n",
        {"encoding": "shift_jis"},
        TableError,
        ["not encoded in shift_jis", "line 3"],
    ),
    "NUL bytes": (
        "a.csv",
        b"text,label\na\0b,no\nc,yes\nd,no\0\n",
        {},
        TableError,
        ["line 2: NUL byte: at byte 2", "line 4: NUL byte: at byte 5"],
    ),
    "NUL byte beyond the first megabyte": (
        "a.csv",
        b"text,label\n" + b"some words,no\n" * 80_000 + b"a\0b,yes\n",
        {},
        TableError,
        ["line 80002: NUL byte"],
    ),
    "quote that never closes": (
        "a.csv",
        b'text,label\na,no\n"open,yes\nb,no\nc,yes\n',
        {},
        TableError,
        ["line 3: the quote that opens '\"open,yes' is never closed"],
    ),
    "quote in the last field that never closes": (
        "a.csv",
        b'text,label\na,no\nb,"yes',
        {},
        TableError,
        ["line 3: the"],
    ),
    "quote in the second line of a row": ("a.csv", b'text,label\n"a\nb","yes\nc,no\n', {}, TableError, ["line 3: the"]),
    "ragged row behind a byte order mark": (
        "a.csv",
        b'\xef\xbb\xbf"te,xt",label\na,no\nb\n',
        {"text": "te,xt"},
        TableError,
        ["line 3: 1 field, the header has 2", "1 problem\n"],
    ),
    "quote that swallows rows": (
        "a.csv",
        b'text,label\n"open,yes\nb,no\n"c",yes\nd,no\n',
        {},
        TableError,
        ["line 2: the quote that opens", "closes on line 4, but 'c\",yes' follows it"],
    ),
    "text behind a closing quote": (
        "a.csv",
        b'text,label\n"so" he said,yes\nb,no\n"x\\"y",no\n',
        {},
        TableError,
        ["line 2: the quote", "closes on this line, but ' he said,yes' follows", "line 4: the quote", '""here""'],
    ),
    "several kinds at once": (
        "a.csv",
        b'text,label\na\xff,no\nb\n"c,yes\nd\0,no\n',
        {},
        TableError,
        ["line 2: not UTF-8", "line 3: 1 field", "line 4: the quote", "line 5: NUL", "4 problems"],
    ),
    "broken header": ("a.csv", b'"text,label\na,no\n', {}, TableError, ["line 1: the quote"]),
    "duplicate column names": ("a.csv", b"text,label,text\na,no,b\n", {}, TableError, ["'text'", "columns 1, 3"]),
    "unnamed columns as id": ("a.csv", b",,text,label\n1,2,a,no\n", {"id": ""}, TableError, ["columns 1, 2"]),
    "unlabelled rows": (
        "a.csv",
        b'text,label\n"a\nb",no\nc,\nd,yes\ne,  \n',
        {},
        TableError,
        ["2 rows have no label: lines 4, 6", "drop=['unlabelled']"],
    ),
    "unlabelled row in JSON": (
        "a.jsonl",
        b'{"text": "a", "label": "no"}\n\n{"text": "b", "label": null}\n{"text": "c", "label": "yes"}\n{"text": "d"}\n',
        {},
        TableError,
        ["2 rows have no label: lines 3, 5"],
    ),
    "unlabelled row in Parquet": (
        "a.parquet",
        parquet_bytes(text=["a", "b", "c"], label=["x", None, "y"]),
        {},
        TableError,
        ["1 row has no label: row 1 (the first is row 0)"],
    ),
    "empty text": (
        "a.csv",
        "text,label\n,no\nb,yes\n\u00a0 \u2003,no\nd,no\n".encode(),
        {},
        TableError,
        ["2 rows have no text: lines 2, 4", "drop=['empty']"],
    ),
    "all at once": (
        "a.csv",
        b"text,label,key\na,no,1\n,yes,2\nc,,3\nd,maybe,1\n",
        {"id": "key", "labels": ["no", "yes", "never"]},
        TableError,
        [
            "1 row has no label: line 4",
            "1 row has labels that are not declared: 'maybe' 1; line 5",
            "1 row has no text: line 3",
            "1 row has the id of an earlier row: '1' on lines 2, 5",
            "no row has the declared label 'never'",
            "drop=['unlabelled', 'undeclared', 'empty', 'duplicates']",
        ],
    ),
    "misspelt declared label": (
        "a.csv",
        GOOD,
        {"labels": ("no", "yess")},
        TableError,
        ["no row has the declared label 'yess'; did you mean 'yes'?", "'yes' 1; line 3"],
    ),
    "one label only": ("a.csv", b"text,label\na,no\nb,no\n", {}, TableError, ["only one label occurs: 'no'"]),
    "one label declared": ("a.csv", GOOD, {"labels": ["no"]}, InputError, ["fewer than two labels"]),
    "labels as one string": ("a.csv", GOOD, {"labels": "no"}, InputError, ["names in their order"]),
    "label declared twice": ("a.csv", GOOD, {"labels": ["no", "yes", "no"]}, InputError, ["'no' is declared twice"]),
    "empty label declared": ("a.csv", GOOD, {"labels": {"": "no", "yes": "yes"}}, InputError, ["label is empty"]),
    "nothing left": (
        "a.csv",
        b"text,label\n,no\n,yes\n",
        {"drop": ["empty"]},
        TableError,
        ["no rows are left of 2"],
    ),
    "duplicate ids": (
        "a.csv",
        b"text,label,k\na,no,x1\nb,yes,x2\nc,no,x1\nd,no,x2\ne,no,x1\n",
        {"id": "k"},
        TableError,
        ["3 rows have the id of an earlier row: 'x1' on lines 2, 4, 6; 'x2' on lines 3, 5"],
    ),
    "missing ids": ("a.csv", b"text,label,k\na,no,1\nb,yes,\n", {"id": "k"}, TableError, ["1 row has no id: line 3"]),
    "PNG": ("a.csv", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", {}, InputError, ["a PNG image", "CSV"]),
    "zip": ("a.csv", b"PK\x03\x04\x14\0\0\0", {}, InputError, ["zip archive", ".xlsx"]),
    "ELF": ("a.csv", b"\x7fELF\x02\x01\x01\0", {}, InputError, ["a program (ELF)"]),
    "pickle": ("a.pkl", b"\x80\x04\x95\x10\0\0\0", {}, InputError, ["pickle, which is never loaded"]),
    "workbook without ending": ("a.xlsx", b"PK\x03\x04\x14\0\0\0", {}, InputError, ["zip archive"]),
    "other binary": ("a.csv", b"\x01\x02\0\0\xff\xfe\0", {}, TableError, ["line 1: NUL byte", "line 1: not UTF-8"]),
    "Parquet named .csv": ("a.csv", WHOLE_PARQUET, {}, InputError, ["a Parquet file"]),
    "CSV named .parquet": ("a.parquet", GOOD, {}, InputError, ["not a Parquet file", "PAR1"]),
    "gzip named .csv": ("a.csv", gzip.compress(GOOD), {}, InputError, ["gzip", "rename it to a.csv.gz"]),
    "CSV named .gz": ("a.csv.gz", GOOD, {}, InputError, ["not compressed with gzip", "rename it to a.csv"]),
    "truncated gzip": ("a.csv.gz", gzip.compress(os.urandom(9000).hex().encode())[:-2000], {}, InputError, ["damaged"]),
    "corrupt gzip": ("a.csv.gz", gzip.compress(GOOD)[:12] + b"\xff" * 40, {}, InputError, ["a damaged gzip file"]),
    "truncated Parquet": ("a.parquet", WHOLE_PARQUET[:-60], {}, TableError, ["damaged Parquet file", "cut short"]),
    "invalid JSON": (
        "a.jsonl",
        b'{"text": "a", "label": "no"}\n{"text": "b", "label"\n{"text": "c"} {"text": "d"}\n[1]\n"x"\n',
        {},
        TableError,
        [
            "line 2: not valid JSON: Expecting ':' delimiter",
            "line 3: not valid JSON: Extra data (column 15)",
            "line 4: an array, not an object",
            "line 5: a string, not an object",
            "one object on each line",
        ],
    ),
    "deeply nested JSON": ("a.jsonl", b"[" * 100_000 + b"\n", {}, TableError, ["line 1"]),
    "deeply nested JSON in a line": (
        "a.jsonl",
        b'{"a":' + b"[" * 100_000 + b"\n",
        {},
        TableError,
        ["line 1: not valid"],
    ),
    "half a surrogate pair": (
        "a.jsonl",
        b'{"text": "a", "label": 1}\n{"text": "\\ud83d", "label": 1}\n',
        {},
        TableError,
        ["line 2: half a surrogate pair"],
    ),
    "invalid JSON array": (
        "a.json",
        b'[{"text": "a"},\n 5,\n{"text": }]',
        {},
        TableError,
        ["line 2: a num", "line 3:"],
    ),
    "open JSON array": ("a.json", b'[{"text": "a",\n "label": 1}\n', {}, TableError, ["the array is not closed"]),
    "text column of lists": ("a.jsonl", b'{"text": ["a"], "label": 1}\n', {}, InputError, ["'text'", "list<"]),
    "nested attribute": (
        "a.jsonl",
        b'{"text": "a", "label": 1, "x": {"y": 1}}\n',
        {"attributes": ["x"]},
        InputError,
        ["the column 'x'", "dict"],
    ),
    "mixed lists": (
        "a.jsonl",
        b'{"text": "a", "label": 1, "x": ["y"]}\n{"text": "b", "label": 2, "x": "y"}\n',
        {"attributes": ["x"]},
        InputError,
        ["the column 'x'", "list, str"],
    ),
    "unknown ending, no table": ("notes.txt", b"Dear diary,\ntoday\n", {}, UnknownNameError, ["'Dear diary'"]),
    "unknown word in drop": ("a.csv", GOOD, {"drop": ["emty"]}, UnknownNameError, ["'emty'", "did you mean 'empty'?"]),
    "drop undeclared without labels": ("a.csv", GOOD, {"drop": "undeclared"}, InputError, ["no effect", "labels="]),
    "drop duplicates without ids": ("a.csv", GOOD, {"drop": ["duplicates"]}, InputError, ["no effect", "id="]),
    "attribute called label": ("a.csv", GOOD, {"attributes": ["label"]}, InputError, ["called 'label'", "rename"]),
    "attribute twice": ("a.csv", GOOD, {"attributes": ["u", "u"]}, InputError, ["named twice: u"]),
    "long delimiter": ("a.csv", GOOD, {"delimiter": "::"}, InputError, ["'::' cannot be a delimiter"]),
    "delimiter for JSON": ("a.jsonl", b'{"text": 1}\n', {"delimiter": ","}, InputError, ["delimiter has no effect"]),
    "encoding for Parquet": ("a.pq", WHOLE_PARQUET, {"encoding": "cp1252"}, InputError, ["encoding has no effect"]),
    "unknown encoding": ("a.csv", GOOD, {"encoding": "utf-9"}, InputError, ["no encoding is called 'utf-9'"]),
    "not a text encoding": ("a.csv", GOOD, {"encoding": "hex"}, InputError, ["no encoding is called 'hex'"]),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_one_clear_error(case: str, tmp_path: Path) -> None:
    name, content, arguments, error, fragments = CASES[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error) as caught:
        load_table(path, **arguments)
    assert type(caught.value) is error
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert list(tmp_path.iterdir()) == [path]


def test_structural_problems_are_in_the_order_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\na\nb\xff,no\nc\nd\0,yes\n")
    with pytest.raises(TableError) as caught:
        load_table(path)
    assert [problem.partition(":")[0] for problem in caught.value.problems] == [f"line {n}" for n in (2, 3, 4, 5)]


def test_lines_are_counted_beyond_the_first_block_of_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"words,no\n" * 20_000 + b"\xff\xff,yes\n")
    with pytest.raises(TableError, match="line 20002: "):
        load_table(path, encoding="shift_jis")


def test_the_fast_path_reads_what_the_cases_break(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(GOOD)
    assert load_table(path).texts.to_pylist() == ["fine day", "bad day"]


def test_quote_problems_are_found_across_blocks_and_continue_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    filler = b'"some, words",no\n' * 300_000
    path.write_bytes(b"text,label\n" + filler + b'"open,yes\n' + filler + b'x,"yes"z\n')
    with pytest.raises(TableError) as caught:
        load_table(path)
    assert [problem.partition(": ")[0] for problem in caught.value.problems] == ["line 300002", "line 600003"]


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_bytes(GOOD)
    with pytest.raises(InputError, match=r"(?s)is a folder.*posts\.csv"):
        load_table(tmp_path)


@pytest.mark.parametrize(
    ("asked", "fragment"),
    [("post.csv", "did you mean"), ("other.data", "check the path"), ("no/where.csv", "no folder")],
)
def test_a_file_that_is_not_there(asked: str, fragment: str, tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_bytes(GOOD)
    with pytest.raises(InputError, match=f"(?s)there is no file.*{asked}.*{fragment}"):
        load_table(tmp_path / asked)


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="not a file that can be read twice"):
        load_table(tmp_path / "pipe.csv")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder of its own that every user may enter; the ones pytest makes are closed to all but their owner."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_file_without_permission(name: str, open_folder: Path) -> None:
    path = open_folder / name
    path.write_bytes(WHOLE_PARQUET if name.endswith("parquet") else GOOD)
    path.chmod(0)
    user = os.geteuid()
    try:
        if user == 0:  # who may read everything
            os.seteuid(65534)
        with pytest.raises(InputError, match=r"(?s)may not be read.*Permission denied"):
            load_table(path)
    finally:
        os.seteuid(user)


def test_a_hopeless_file_is_given_up_early_and_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\n" + b"x\n" * 30_000)
    with pytest.raises(TableError) as caught:
        load_table(path)
    assert len(caught.value.problems) == 10_000
    assert len(str(caught.value).splitlines()) < 30


def test_a_cell_that_is_a_file_is_named_and_the_limit_can_be_raised(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nfine,no\n" + b"x" * 1_000_001 + b",yes\n")
    with pytest.raises(TableError, match=r"(?s)line 3, column 'text': 1,000,001 bytes.*at most 1,000,000.*--longest"):
        load_table(path)
    assert len(load_table(path, longest=2_000_000)) == 2


@pytest.mark.parametrize(("n", "said"), [(20_000, "more than 10,000 columns"), (90_000, r"first line .* is longer")])
def test_a_table_of_very_many_columns_is_refused_before_it_is_read(tmp_path: Path, n: int, said: str) -> None:
    names = ",".join(f"column {number // 2}" for number in range(n))
    (tmp_path / "a.csv").write_text(f"text,label,{names}\n")
    with pytest.raises(TableError, match=said):
        load_table(tmp_path / "a.csv")


def test_a_gzip_bomb_is_left_by_what_was_read_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"\n" * (1 << 20)) * 1_000)
    with files.Unpacked(tmp_path / "a.gz") as stream:
        for _ in range(files.ANYWAY >> 20):
            stream.read(1 << 20)
        with pytest.raises(TableError, match="unpacks to more than"):
            stream.read(1 << 20)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
def test_a_gzip_bomb_is_left_before_it_is_unpacked(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "ANYWAY", 1 << 16)
    (tmp_path / name).write_bytes(gzip.compress(b"text,label\na,no\nb,yes\n" + b"\n" * (1 << 23)))
    with pytest.raises(TableError, match=r"(?s)unpacks to more than .*gunzip"):
        load_table(tmp_path / name)


def test_a_declared_label_need_not_occur_where_the_rows_have_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text,label\na,yes\nb,yes\n")
    with pytest.warns(UnseenWarning, match="no row has the declared label 'no'; the labels are 'yes'"):
        data = load_table(tmp_path / "a.csv", labels=["no", "yes"])
    assert (data.label_names, data.labels.tolist()) == (("no", "yes"), [1, 1])
