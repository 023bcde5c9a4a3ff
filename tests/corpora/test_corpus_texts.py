"""The pieces of a corpus hold its rows, whatever the format and the sizes of files and row groups."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from small_corpus import ROWS, table, write

import unseen
from unseen.corpora.shards import from_bytes
from unseen.corpora.texts import Texts, files_of, in_pieces, piece_key, settled_ids, survey_texts
from unseen.corpora.vectors import read_texts
from unseen.errors import InputError, UnseenWarning


def texts_of(source: Path, batch: int = 8, id: str | None = "name") -> Texts:
    return Texts(tuple(map(str, files_of(source))), "text", id, batch)


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
@pytest.mark.parametrize("id", ["name", None])
def test_every_format_gives_the_rows_that_load_gives(tmp_path: Path, form: str, id: str | None) -> None:
    texts = texts_of(write(tmp_path, table(), form), id=id)
    pieces = [piece for file in texts.files for piece in texts.pieces(file)]
    assert [len(piece) for piece in pieces] == [8, 8, 4] * 3
    data = unseen.load(table(), **{"id": id} if id else {})
    found = pa.concat_tables(pieces)
    assert found["id"].to_pylist() == data.ids.to_pylist()
    assert found["text"].to_pylist() == data.texts.to_pylist()


def test_formats_do_not_change_what_a_piece_is_called(tmp_path: Path) -> None:
    keys = [
        [(piece.key, piece.rows) for piece in survey_texts(texts_of(write(tmp_path / form, table(), form)), "work")]
        for form in ("parquet", "csv", "jsonl")
    ]
    assert keys[0] == keys[1] == keys[2]
    assert len(dict(keys[0])) == 9


def test_a_piece_is_called_by_its_content() -> None:
    usual = pa.table({"id": ["a", "b"], "text": ["x", "yz"]})
    others = [
        pa.table({"id": ["a", "b"], "text": ["xy", "z"]}),
        pa.table({"id": ["a", "c"], "text": ["x", "yz"]}),
        pa.table({"id": ["b", "a"], "text": ["x", "yz"]}),
    ]
    keys = {piece_key(each, "work") for each in [usual, *others]} | {piece_key(usual, "other work")}
    assert len(keys) == 5
    assert piece_key(pa.concat_tables([usual.slice(0, 1), usual.slice(1)]), "work") in keys


@pytest.mark.parametrize("sizes", [[], [1], [5], [4, 4], [9, 1, 0, 2], [3, 3, 3]])
def test_pieces_have_the_size_asked_for(sizes: list[int]) -> None:
    every = list(range(sum(sizes)))
    tables = [
        pa.table({"n": pa.array(every[sum(sizes[:i]) : sum(sizes[: i + 1])], pa.int64())}) for i in range(len(sizes))
    ]
    pieces = [each["n"].to_pylist() for each in in_pieces(tables, 4)]
    assert pieces == [every[start : start + 4] for start in range(0, len(every), 4)]


def test_only_wanted_pieces_are_read_and_a_changed_file_is_noticed(tmp_path: Path) -> None:
    texts = texts_of(write(tmp_path, table(), "parquet", 1), batch=25)
    first, second, _ = survey_texts(texts, "work")
    ((key, content),) = read_texts(texts, "work", f'["{second.file}", ["{second.key}"]]')
    assert key == second.key
    assert from_bytes(content)["id"].to_pylist() == [f"row-{i}" for i in range(25, 50)]
    write(tmp_path, table(ROWS - 1).slice(1), "parquet", 1)
    with pytest.raises(InputError, match="was changed while it was read"):
        list(read_texts(texts, "work", f'["{first.file}", ["{first.key}"]]'))


def test_files_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "b", table(), "parquet", 2)
    write(tmp_path / "a", table(), "csv", 2)
    monkeypatch.chdir(tmp_path)
    names = ["part-0.parquet", "part-1.parquet"]
    assert [each.name for each in files_of("a")] == names
    assert [each.name for each in files_of("a/*/*.parquet")] == names
    assert [each.name for each in files_of(tmp_path / "a" / "*.csv")] == ["part-0.csv", "part-1.csv"]
    assert [each.name for each in files_of(["a", "a/b", "a/part-0.csv"])] == [
        "part-0.parquet",
        "part-1.parquet",
        "part-0.csv",
    ]


def test_a_column_of_ids_that_nobody_named_is_used_where_it_tells_rows_apart(tmp_path: Path) -> None:
    named = table().rename_columns(["id", "text", "label"])
    texts, pieces = settled_ids(texts_of(write(tmp_path / "a", named, "csv"), id=None), "work")
    assert texts.id == "id"
    assert sum(piece.rows for piece in pieces) == ROWS
    again = pa.concat_tables([named, named.slice(0, 1).set_column(1, "text", pa.array(["another text"]))])
    source = write(tmp_path / "b", again, "csv")
    with pytest.warns(UnseenWarning, match="the column 'id' is not used, because the id 'row-0' occurs 2 times"):
        texts, pieces = settled_ids(texts_of(source, id=None), "work")
    assert texts.id is None
    assert sum(piece.rows for piece in pieces) == ROWS + 1
