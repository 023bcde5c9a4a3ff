from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.data import load_table
from unseen.data.selection import made_ids, repeats
from unseen.errors import UnseenWarning

texts = st.text(alphabet=st.one_of(st.sampled_from("\"',;|\t\n\r ab"), st.characters(exclude_categories=["Cs"])))
visible = texts.filter(lambda text: text.strip() and "\0" not in text)


def saved(folder: Path, content: str | bytes, name: str = "posts.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@settings(max_examples=60)
@given(
    rows=st.lists(st.tuples(visible, visible), min_size=2, max_size=12),
    delimiter=st.sampled_from(",\t;|"),
    # With one of "\n" and "\r" as line end, the csv module of Python 3.11 leaves the other unquoted.
    style=st.sampled_from([("\r\n", csv.QUOTE_MINIMAL), *((ending, csv.QUOTE_ALL) for ending in ("\n", "\r", "\r\n"))]),
)
def test_what_the_csv_module_writes_comes_back(
    rows: list[tuple[str, str]], delimiter: str, style: tuple[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=style[0], quoting=style[1])
        writer.writerow(["text", "user", "label"])
        writer.writerows([text, user, str(row % 2)] for row, (text, user) in enumerate(rows))
    data = load_table(path, attributes=["user"], id=None)
    assert data.origin.params["delimiter"] == delimiter
    assert data.texts.to_pylist() == [text for text, _ in rows]
    assert len(data.attribute("user")) == len(rows)


def test_the_record_says_how_it_was_made(tmp_path: Path) -> None:
    path = saved(tmp_path, "key;words;kind;user\n1;a;x;u\n2;b;y;\n3;;y;u\n4;d;z;u\n2;e;x;u\n5;f;;u\n")
    data = load_table(
        path,
        text="words",
        label="kind",
        id="key",
        attributes=["user"],
        labels={"y": "why", "x": "ex"},
        drop=["undeclared", "unlabelled", "empty", "duplicates"],
    )
    assert data.name == "posts"
    assert data.ids.to_pylist() == ["1", "2"]
    assert data.label_names == ("why", "ex")
    assert data.table["label"].to_pylist() == ["ex", "why"]
    assert data.attribute("user").to_pylist() == ["u", None]
    assert data.origin.step == "load"
    assert data.origin.params == {
        "file": "posts.csv",
        "format": "delimited",
        "delimiter": ";",
        "encoding": "utf-8",
        "columns": {"text": "words", "label": "kind", "id": "key", "attributes": ["user"]},
        "labels": {"y": "why", "x": "ex"},
        "drop": ["unlabelled", "undeclared", "empty", "duplicates"],
        "dropped": {"unlabelled": 1, "undeclared": 1, "empty": 1, "duplicates": 1},
    }
    assert data.origin.inputs == {"file": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert data.origin.versions["pyarrow"] == pa.__version__
    assert "unseen" in data.origin.versions


def test_declared_labels_keep_their_order_and_may_be_merged(tmp_path: Path) -> None:
    path = saved(tmp_path, "text,label\na,0\nb,1\nc,2\n")
    assert load_table(path).label_names == ("0", "1", "2")
    assert load_table(path, labels=(2, 0, 1)).label_names == ("2", "0", "1")
    merged = load_table(path, labels={0: "fine", 1: "bad", 2: "bad"})
    assert merged.label_counts == {"fine": 1, "bad": 2}


def test_found_labels_are_sorted_by_number_then_by_alphabet(tmp_path: Path) -> None:
    values = ["nan", "10", "9", "-1", "b", "a"]
    path = saved(tmp_path, "text,label\n" + "".join(f"t,{value}\n" for value in values))
    assert load_table(path).label_names == ("-1", "9", "10", "a", "b", "nan")


def test_columns_may_have_our_names_in_any_combination(tmp_path: Path) -> None:
    path = saved(tmp_path, "label,id,text\nfirst words,yes,1\nother words,no,2\n")
    data = load_table(path, text="label", label="id", id="text")
    assert data.table.to_pydict() == {
        "id": ["1", "2"],
        "text": ["first words", "other words"],
        "label": ["yes", "no"],
    }


@pytest.mark.parametrize(
    "content",
    [
        b"text,label\na b,no\nc,yes\n",
        b"text,label\r\na b,no\r\nc,yes\r\n\r\n\r\n",
        b"text,label\ra b,no\rc,yes",
        b"\n\ntext,label\n\na b,no\n\nc,yes",
        b"\xef\xbb\xbftext,label\na b,no\nc,yes\n",
        b'\xef\xbb\xbf"text","label"\n"a b","no"\n"c","yes"',
        b"other,text,,label\n\xff,a b,,no\nx,c,,yes\n",
        b"text\tlabel\na b\tno\nc\tyes\n",
        b'text|"label"\na b|no\nc|yes\n',
    ],
)
def test_spellings_of_the_same_table(content: bytes, tmp_path: Path) -> None:
    data = load_table(saved(tmp_path, content))
    assert data.texts.to_pylist() == ["a b", "c"]
    assert data.label_counts == {"no": 1, "yes": 1}


def test_quotes_inside_unquoted_fields_are_characters(tmp_path: Path) -> None:
    data = load_table(saved(tmp_path, 'text\tlabel\n5" wide\tno\nsay "a"\tyes\n'))
    assert data.texts.to_pylist() == ['5" wide', 'say "a"']


@pytest.mark.parametrize("megabytes", [5, 20])
@pytest.mark.parametrize("quoted", [True, False])
def test_very_long_fields(quoted: bool, megabytes: int, tmp_path: Path) -> None:
    long = ("ten, words\n" if quoted else "ten words: ") * (megabytes * 100_000)
    field = f'"{long}"' if quoted else long
    data = load_table(saved(tmp_path, f"text,label\n{field},no\nb,yes\n"), longest=10**8)
    assert data.texts[0].as_py() == long


def test_other_encodings(tmp_path: Path) -> None:
    content = "text,label\ncafé,no\nnaïve “x”,yes\n"
    for encoding in ("cp1252", "utf-16", "utf-16-le", "utf-8-sig"):
        data = load_table(saved(tmp_path, content.encode(encoding)), encoding=encoding)
        assert data.texts.to_pylist() == ["café", "naïve “x”"]


def test_lines_are_counted_in_other_encodings_too(tmp_path: Path) -> None:
    path = saved(tmp_path, 'text,label\n"é\né",no\nx,yes\ny,\n'.encode("utf-16"))
    with pytest.raises(ValueError, match="1 row has no label: line 5"):
        load_table(path, encoding="utf-16")


def test_a_delimiter_of_the_users_choice(tmp_path: Path) -> None:
    path = saved(tmp_path, "text~label\na, b~no\nc~yes\n")
    assert load_table(path, delimiter="~").texts.to_pylist() == ["a, b", "c"]


def test_the_delimiter_is_the_one_that_finds_the_columns(tmp_path: Path) -> None:
    path = saved(tmp_path, "a,b,c,text\tlabel\nx\tno\ny\tyes\n")
    assert load_table(path, text="a,b,c,text").origin.params["delimiter"] == "\t"


def test_ids_come_from_the_text_and_count_its_repetitions(tmp_path: Path) -> None:
    data = load_table(saved(tmp_path, "text,label\nsame,no\nother,yes\nsame,yes\nsame,no\n"))
    digest = hashlib.sha256(b"same").hexdigest()[:16]
    assert data.ids.to_pylist() == [digest, hashlib.sha256(b"other").hexdigest()[:16], f"{digest}-2", f"{digest}-3"]


@given(st.lists(st.sampled_from(["a", "b", "c", "ü"]), max_size=12), st.integers(1, 5))
def test_made_ids_and_repetitions_against_a_loop(values: list[str], size: int) -> None:
    chunks = [pa.array(values[at : at + size], pa.large_string()) for at in range(0, len(values), size)]
    column = pa.chunked_array(chunks, type=pa.large_string())
    expected = []
    for row, value in enumerate(values):
        count = values[: row + 1].count(value)
        digest = hashlib.sha256(value.encode()).hexdigest()[:16]
        expected.append(digest if count == 1 else f"{digest}-{count}")
    assert made_ids(column).to_pylist() == expected
    np.testing.assert_array_equal(repeats(column), [value in values[:row] for row, value in enumerate(values)])


def test_a_row_is_dropped_for_one_reason_only(tmp_path: Path) -> None:
    path = saved(tmp_path, "text,label,k\na,x,1\n,,1\nb,y,2\nc,y,1\n")
    data = load_table(path, id="k", drop=["empty", "unlabelled", "duplicates"])
    assert data.origin.params["dropped"] == {"unlabelled": 1, "empty": 0, "duplicates": 1}
    assert data.texts.to_pylist() == ["a", "b"]


def test_ids_of_numbers_are_their_digits() -> None:
    rows = [{"text": "a", "label": 1, "n": 7.0}, {"text": "b", "label": 2, "n": 780000000000000000.0}]
    assert load_table(rows, id="n", name="mine").ids.to_pylist() == ["7", "780000000000000000"]
    assert load_table(rows, name="mine").name == "mine"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "frame", "list"])
def test_a_column_id_that_tells_rows_apart_is_used_without_being_named(tmp_path: Path, ending: str) -> None:
    columns = {"id": ["7", "x"], "text": ["a", "b"], "label": ["no", "yes"]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = tmp_path / f"d.{ending}"
    if ending == "csv":
        path.write_text("id,text,label\n7,a,no\nx,b,yes\n")
    elif ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == "parquet":
        pq.write_table(pa.table(columns), path)
    source: Any = {"frame": pa.table(columns), "list": rows}.get(ending, path)
    data = load_table(source)
    assert data.ids.to_pylist() == ["7", "x"]
    assert data.origin.params["columns"]["id"] == "id"
    assert load_table(source, text="id", label="label").ids.to_pylist() != ["7", "x"]


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (["1", "1"], "1 rows have the id of an earlier row"),
        (["1", None], "1 rows have no id"),
        ([{"a": 1}, {"a": 2}], ""),
    ],
)
def test_a_column_id_that_does_not_is_named_and_left(ids: list[Any], why: str) -> None:
    rows = [{"id": name, "text": text, "label": text} for name, text in zip(ids, "ab", strict=True)]
    with pytest.warns(UnseenWarning, match=f"the column 'id' of the list of rows is not used.*{why}.*id='id'"):
        data = load_table(rows)
    without = [{"text": row["text"], "label": row["label"]} for row in rows]
    assert data.ids.equals(load_table(without).ids)


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("a.csv", "text,label\na,x\nb,y\nb,y", ["line 2", "line 3", "line 4"]),
        ("a.csv", 'text,label\n"a\nb",x\n\nb,\nb,y\nc,x\n', ["line 2", "line 6", "line 7"]),
        ("a.jsonl", '{"text": "a", "label": "x"}\n\n{"text": "b", "label": "y"}\n', ["line 1", "line 3"]),
        ("a.json", '[{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]', ["row 1", "row 2"]),
    ],
)
def test_rows_know_where_they_stand_in_their_file(tmp_path: Path, name: str, content: str, places: list[str]) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    data = load_table(tmp_path / name, drop=["unlabelled"])
    assert [data.place(row) for row in range(len(data))] == places
    turned = data.take([1, 0])
    assert turned.places_of(data.ids.to_pylist()[:2]) == dict(zip(data.ids.to_pylist(), places[:2], strict=False))
    assert turned.take([0]).place(0) == places[1]
    assert replace(data, places=None).fingerprint == data.fingerprint
