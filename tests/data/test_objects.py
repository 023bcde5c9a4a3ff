"""The same rows in any container are the same dataset."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unseen.data import load_table
from unseen.errors import InputError, TableError, UnknownNameError

ROWS = [
    {"post": 'she said "hi", twice\nand left', "class": 1, "groups": ["a", "b"], "when": 9},
    {"post": "ünïcode ☂ 🙂", "class": 0, "groups": [], "when": 10},
    {"post": "plain", "class": 10, "groups": None, "when": None},
    {"post": "plain", "class": 1, "groups": ["b"], "when": 11},
]
ARGUMENTS = {"text": "post", "label": "class", "attributes": ["groups", "when"]}
COLUMNS = {name: [row[name] for row in ROWS] for name in ROWS[0]}


def csv_text(delimiter: str = ",") -> str:
    return pd.DataFrame(ROWS).astype({"when": "Int64"}).to_csv(index=False, sep=delimiter)


def lines_text() -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in ROWS)


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    content = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(content)
    return folder / name


def saved_parquet(folder: Path) -> Path:
    pq.write_table(pa.table(COLUMNS), folder / "a.parquet")
    return folder / "a.parquet"


CONTAINERS: dict[str, Callable[[Path], Any]] = {
    "list of dict": lambda _: ROWS,
    "pandas": lambda _: pd.DataFrame(ROWS),
    "pandas category": lambda _: pd.DataFrame(ROWS).astype({"post": "category"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "arrow": lambda _: pa.table(COLUMNS),
    "arrow batch": lambda _: pa.RecordBatch.from_pydict(COLUMNS),
    "hugging face": lambda _: datasets.Dataset.from_dict(COLUMNS),
    "hugging face, chosen": lambda _: datasets.Dataset.from_list([*ROWS, *ROWS]).select(range(len(ROWS))),
    "csv": lambda folder: saved(folder, "a.csv", csv_text()),
    "csv, CRLF and mark": lambda folder: saved(folder, "a.csv", b"\xef\xbb\xbf" + csv_text().encode()),
    "str path": lambda folder: str(saved(folder, "a.csv", csv_text())),
    "tsv": lambda folder: saved(folder, "a.tsv", csv_text("\t")),
    "semicolons": lambda folder: saved(folder, "a.csv", csv_text(";")),
    "pipes, unknown ending": lambda folder: saved(folder, "a.data", csv_text("|")),
    "csv.gz": lambda folder: saved(folder, "a.csv.gz", gzip.compress(csv_text().encode())),
    "gzip of two members": lambda folder: saved(
        folder, "a.csv.gz", gzip.compress(csv_text()[:40].encode()) + gzip.compress(csv_text()[40:].encode())
    ),
    "jsonl": lambda folder: saved(folder, "a.jsonl", lines_text()),
    "json lines in .json": lambda folder: saved(folder, "a.json", lines_text()),
    "ndjson.gz": lambda folder: saved(folder, "a.ndjson.gz", gzip.compress(lines_text().encode())),
    "json array": lambda folder: saved(folder, "a.json", json.dumps(ROWS, indent=1)),
    "json, unknown ending": lambda folder: saved(folder, "a", lines_text()),
    "parquet": saved_parquet,
    "parquet, unknown ending": lambda folder: saved_parquet(folder).rename(folder / "a.bin"),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_dataset(container: str, tmp_path: Path) -> None:
    data = load_table(CONTAINERS[container](tmp_path), **ARGUMENTS)
    expected = load_table(ROWS, **ARGUMENTS)
    assert data.fingerprint == expected.fingerprint
    assert data.label_names == ("0", "1", "10")
    assert data.texts.to_pylist() == COLUMNS["post"]
    assert data.attribute("groups").to_pylist() == COLUMNS["groups"]
    assert data.attribute("when").to_pylist() == COLUMNS["when"]
    assert data.table.schema.field("text").type == pa.large_string()
    assert data.table.schema.field("id").type == pa.large_string()


def test_class_labels_of_hugging_face_are_the_declared_order() -> None:
    features = datasets.Features(
        {
            "text": datasets.Value("string"),
            "label": datasets.ClassLabel(names=["zebra", "ant"]),
            "tags": datasets.Sequence(datasets.ClassLabel(names=["p", "q"])),
        }
    )
    columns = {"text": ["a", "b", "c"], "label": [1, 0, -1], "tags": [[0, 1], [], [1]]}
    source = datasets.Dataset.from_dict(columns, features=features)
    with pytest.raises(TableError, match="1 row has no label: row 2"):
        load_table(source)
    data = load_table(source, drop=["unlabelled"], attributes=["tags"])
    assert data.label_names == ("zebra", "ant")
    assert data.table["label"].to_pylist() == ["ant", "zebra"]
    assert data.attribute("tags").to_pylist() == [["p", "q"], []]
    assert load_table(source, drop=["unlabelled"], labels=("ant", "zebra")).label_names == ("ant", "zebra")


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([1.0, 2.0, None], ("1", "2")),
        ([True, False, None], ("false", "true")),
        ([1, "b", None], ("1", "b")),
        (["x", float("nan"), "y"], ("x", "y")),
        ([2.5, 1, None], ("1", "2.5")),
    ],
)
def test_labels_of_pandas_become_strings(values: list[Any], names: tuple[str, ...]) -> None:
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": values})
    assert load_table(frame, drop=["unlabelled"]).label_names == names
    assert load_table(frame.to_dict("records"), drop=["unlabelled"]).label_names == names


def test_types_that_change_between_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.data.records.ROWS_AT_ONCE", 2)
    labels, numbers = [None, None, 1, 2, "z", 1.0], [None, None, 1, 2, 2.5, 3]
    rows = [{"text": "t", "label": label, "x": x} for label, x in zip(labels, numbers, strict=True)]
    data = load_table(rows, drop=["unlabelled"], attributes=["x"])
    assert data.table["label"].to_pylist() == ["1", "2", "z", "1"]
    assert data.attribute("x").type == pa.float64()
    assert data.attribute("x").to_pylist() == numbers[2:]


def test_sets_in_pandas_become_sorted_lists() -> None:
    letters = set("unordered")
    frame = pd.DataFrame({"text": list("abcd"), "label": [0, 1, 1, 1], "letters": [letters, None, float("nan"), pd.NA]})
    data = load_table(frame, attributes="letters")
    assert data.attribute("letters").to_pylist() == [sorted(letters), None, None, None]


def test_timestamps_stay_sortable() -> None:
    times = pd.to_datetime(["2020-01-02", None, "2019-01-01"])
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": [0, 1, 1], "at": times})
    assert pa.types.is_timestamp(load_table(frame, attributes=["at"]).attribute("at").type)


@pytest.mark.parametrize(
    ("source", "fragment"),
    [
        (datasets.DatasetDict({"train": datasets.Dataset.from_list(ROWS)}), "data['train']"),
        (pl.DataFrame(COLUMNS).lazy(), "frame.collect()"),
        (pd.Series(["a"]), "the whole table"),
        (COLUMNS, "list of rows"),
        (7, "a path, or a pandas"),
        ([{"post": "a"}, 5], "int in row 1"),
    ],
)
def test_other_objects_are_refused(source: Any, fragment: str) -> None:
    with pytest.raises(InputError) as caught:
        load_table(source, **ARGUMENTS)
    assert fragment in str(caught.value)


@pytest.mark.parametrize("source", [ROWS, pd.DataFrame(ROWS), pl.DataFrame(COLUMNS), pa.table(COLUMNS)])
def test_missing_columns_are_named_in_every_container(source: Any) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'class'"):
        load_table(source, text="post", label="clas")


def test_lone_surrogates_in_memory_are_refused() -> None:
    with pytest.raises(InputError, match="the column 'text'"):
        load_table([{"text": "\ud83d", "label": "a"}, {"text": "b", "label": "b"}])


@pytest.mark.parametrize("argument", [{"delimiter": ";"}, {"encoding": "cp1252"}])
def test_arguments_without_effect_are_refused(argument: dict[str, str]) -> None:
    with pytest.raises(InputError, match="has no effect on a table in memory"):
        load_table(ROWS, **ARGUMENTS, **argument)


def test_optional_packages_are_not_imported() -> None:
    code = "import sys, unseen.data; print([m for m in ('pandas', 'polars', 'datasets', 'torch') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
