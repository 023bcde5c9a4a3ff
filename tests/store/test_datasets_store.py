from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.store import read_dataset, write_dataset
from unseen.types import Dataset, Origin
from unseen.types.arrays import encode_labels

Builder = Callable[..., Dataset]

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_a_dataset_comes_back_equal(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(
        ["a", "b", "c"],
        ["=cmd()", "", "ü\x00🙂\r\n"],
        user=["u", None, "v"],
        targets=[["x", "y"], [], ["x"]],
        year=[2001, 2002, 2003],
    )
    data = replace(data, origin=Origin("load", {"file": "posts.csv"}, 1))
    read = read_dataset(write_dataset(data, tmp_path / "data.parquet"))
    assert read.table.equals(data.table)
    assert (read.fingerprint, read.order, read.origin) == (data.fingerprint, data.order, data.origin)
    assert (read.name, read.label_names, read.attributes) == ("tiny", ("no", "yes"), ("user", "targets", "year"))


@given(texts=st.lists(ANY_TEXT, max_size=5), names=st.lists(ANY_TEXT, min_size=1, max_size=3, unique=True))
@settings(max_examples=40)
def test_any_text_and_label_names_come_back(tiny: Builder, tmp_path: Path, texts: list[str], names: list[str]) -> None:
    data = tiny([str(row) for row in range(len(texts))], texts, label_names=names)
    read = read_dataset(write_dataset(data, tmp_path / "data.parquet"))
    assert (read.fingerprint, read.order, read.label_names) == (data.fingerprint, data.order, data.label_names)


def test_the_order_of_labels_survives_when_some_have_no_rows(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(["a", "b"], labels=["z", "m"], label_names=("z", "a", "m"))
    assert read_dataset(write_dataset(data, tmp_path / "data.parquet")).labels.tolist() == [0, 2]


def test_a_dataset_in_many_chunks_comes_back(tiny: Builder, tmp_path: Path) -> None:
    data = tiny()
    chunked = replace(data, table=pa.concat_tables([data.table[:1], data.table[1:]]))
    assert read_dataset(write_dataset(chunked, tmp_path / "data.parquet")).fingerprint == data.fingerprint


def test_a_parquet_file_of_somebody_elses_says_what_to_do(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"], "text": ["x"], "label": ["no"]}), tmp_path / "theirs.parquet")
    with pytest.raises(InputError, match="not a dataset of unseen") as caught:
        read_dataset(tmp_path / "theirs.parquet")
    assert "unseen.load" in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"PAR1 not really", b"id,text\n", None])
def test_what_is_no_parquet_file_is_wrong_input(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "data.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"cannot read .*data\.parquet as Parquet"):
        read_dataset(tmp_path / "data.parquet")


def test_a_label_that_was_not_declared_has_no_code() -> None:
    codes = encode_labels(pa.chunked_array([["b", "a"], ["c"]]), ("a", "b"))
    assert codes.combine_chunks().indices.to_pylist() == [1, 0, None]
    assert codes.chunk(0).dictionary.to_pylist() == ["a", "b"]
