"""A corpus encoded piece by piece has the vectors of `unseen.encode`, each computed once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_corpus import ROWS, table, write

import unseen
from tiny_transformer import write_transformer
from unseen.corpora import Shards, encode_corpus, open_shards
from unseen.corpora.centres import rows_of
from unseen.errors import InputError, TableError, UnseenError


def by_id(shards: Shards) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for _, each in shards.tables():
        found |= dict(zip(each["id"].to_pylist(), rows_of(each["vector"]), strict=True))
    return found


def encoded(log: Path) -> list[str]:
    """Texts that were encoded, by the number in them."""
    return sorted(line.split()[1] for line in log.read_text().splitlines() if line.startswith("number"))


@pytest.mark.slow
def test_vectors_are_those_of_encode(cluster: None, tmp_path: Path) -> None:
    words = ["another", "bnother", "text", "number", "about", "tea", *map(str, range(ROWS))]
    model = write_transformer(tmp_path / "model", words)
    source = write(tmp_path / "texts", table(), "parquet")
    made = encode_corpus(source, str(model), tmp_path / "out", id="name", batch=8, workers=2, precision="fp32")
    data = unseen.load(table(), id="name")
    expected = unseen.encode(data, str(model), precision="fp32").vectors
    found = by_id(made)
    assert made.rows == len(found) == ROWS
    assert np.std(expected, axis=0).min() > 1e-3
    np.testing.assert_allclose(np.stack([found[each] for each in data.ids.to_pylist()]), expected, atol=2e-5)
    shard = pq.read_schema(made.file(next(iter(made.shards))))
    assert shard.field("vector").type == pa.list_(pa.float32(), expected.shape[1])
    assert len(made.shards) == 9  # three files of twenty rows, eight at a time


@pytest.mark.slow
def test_what_is_finished_is_not_done_again(cluster: None, tmp_path: Path) -> None:
    source, log, out = write(tmp_path / "texts", table(), "parquet"), tmp_path / "log", tmp_path / "out"
    settings: dict[str, Any] = {"id": "name", "batch": 5, "workers": 2, "log": str(log)}
    log.with_suffix(".stop").touch()
    with pytest.raises(InputError, match="the power is gone"):
        encode_corpus(source, "odd_encoders:FailsLater", out, **settings)
    before = {each.name for each in out.glob("*.parquet")}
    assert 0 < len(before) < 12
    with pytest.raises(InputError, match="not a finished folder"):
        open_shards(out, "vectors")
    kept = {pq.read_table(out / each)["id"][0].as_py() for each in before}
    log.with_suffix(".stop").unlink()
    log.write_text("")
    made = encode_corpus(source, "odd_encoders:FailsLater", out, **settings)
    again = encoded(log)
    assert len(again) == ROWS - 5 * len(before)
    assert not {each.removeprefix("row-") for each in kept} & set(again)
    assert len(by_id(open_shards(out, "vectors"))) == made.rows == ROWS
    log.write_text("")
    assert encode_corpus(source, "odd_encoders:FailsLater", out, **settings).shards == made.shards
    assert log.read_text() == ""


@pytest.mark.slow
def test_workers_have_one_thread_and_a_lost_one_is_replaced(cluster: None, tmp_path: Path) -> None:
    source, log = write(tmp_path / "texts", table(), "jsonl"), tmp_path / "log"
    made = encode_corpus(source, "odd_encoders:DiesOnce", tmp_path / "out", id="name", batch=4, workers=2, log=str(log))
    assert log.with_suffix(".died").exists()
    assert len(by_id(made)) == ROWS
    heads = [line.split() for line in log.read_text().splitlines() if not line.startswith("number")]
    assert {threads for _, threads, *_ in heads} == {"1"}


@pytest.mark.slow
def test_order_and_files_decide_no_vector(cluster: None, tmp_path: Path) -> None:
    one, other = table(), table().take(np.random.default_rng(0).permutation(ROWS))
    made = [
        encode_corpus(
            write(tmp_path / f"texts{files}", each, "parquet", files), "odd_encoders:Logged", tmp_path / f"out{files}",
            batch=4, log=str(tmp_path / f"log{files}"), workers=2,
        )
        for each, files in ((one, 1), (other, 4))
    ]  # fmt: skip
    lines = (tmp_path / "log1").read_text().splitlines()
    assert len({line.split()[0] for line in lines if not line.startswith("number")}) == 2, "one file, two workers"
    first, second = map(by_id, made)
    assert first.keys() == second.keys() == set(unseen.load(one).ids.to_pylist())
    assert all((first[name] == second[name]).all() for name in first)


@pytest.mark.slow
def test_a_mistake_in_a_worker_arrives(cluster: None, tmp_path: Path) -> None:
    source = write(tmp_path / "texts", table(), "csv")
    with pytest.raises(InputError, match="not a folder of a transformer"):
        encode_corpus(source, tmp_path / "texts", tmp_path / "out", workers=1)
    with pytest.raises(InputError, match="room for 2 workers"):
        encode_corpus(source, "minilm", tmp_path / "out", workers=3)
    with pytest.raises(UnseenError, match="a worker failed: IsADirectoryError"):
        encode_corpus(source, "odd_encoders:Logged", tmp_path / "out", workers=1, log=str(tmp_path))


def test_bad_rows_are_all_named_before_any_work(tmp_path: Path) -> None:
    bad = pa.table({"name": ["a", "b", "", "d", "e"], "text": ["x", None, "z", "  ", "y"]})
    good = pa.table({"name": ["a", "g"], "text": ["v", "w"]})
    pq.write_table(bad, tmp_path / "bad.parquet")
    pq.write_table(good, tmp_path / "good.parquet")
    with pytest.raises(TableError) as raised:
        encode_corpus(tmp_path, "minilm", tmp_path / "out", id="name", batch=2)
    said = str(raised.value)
    assert "bad.parquet: 1 rows have no text: 1 " in said
    assert "bad.parquet: 1 rows have no text: 3 " in said
    assert "bad.parquet: 1 rows have no id: 2 " in said
    pq.write_table(bad.take([0, 4]), tmp_path / "bad.parquet")
    with pytest.raises(TableError, match="the id 'a' occurs 2 times"):
        encode_corpus(tmp_path, "minilm", tmp_path / "out", id="name")
    assert not (tmp_path / "out").exists()


def test_texts_that_occur_twice_need_ids(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["x", "y", "x"]}), tmp_path / "a.parquet")
    with pytest.raises(TableError, match="occurs 2 times") as raised:
        encode_corpus(tmp_path / "a.parquet", "minilm", tmp_path / "out")
    assert "--id" in str(raised.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"encoder": "tfidf"}, "needs all texts at once"),
        ({"encoder": "odd_encoders:WholeOnly"}, "needs all texts at once"),
        ({"encoder": "minilmm"}, "did you mean 'minilm'"),
        ({"encoder": np.zeros(3)}, "each worker makes its own encoder"),
        ({"text": "txt"}, "no column called 'txt'"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"gpus": -1}, "gpus must be at least 0"),
        ({"source": "nowhere/*.csv"}, "no file is meant"),
        ({"source": "texts.parquet"}, "there is no file"),
        ({"poling": "mean"}, "poling"),
    ],
)
def test_wrong_settings(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    usual = {"source": write(tmp_path / "texts", table(), "parquet"), "encoder": "minilm", "out": tmp_path / "out"}
    with pytest.raises(InputError, match=said):
        encode_corpus(**usual | {"id": "name"} | settings)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_things_is_refused(tmp_path: Path) -> None:
    source = write(tmp_path / "texts", table(), "parquet")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.parquet").touch()
    with pytest.raises(InputError, match="holds 1 files that are not part of this work"):
        encode_corpus(source, "minilm", tmp_path / "out", id="name")
    with pytest.raises(InputError, match="it is a file"):
        encode_corpus(source, "minilm", tmp_path / "out" / "thesis.parquet", id="name")


def test_json_lines_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "x"}\n{"text": \n')
    with pytest.raises(TableError, match="line 2"):
        encode_corpus(tmp_path / "a.jsonl", "minilm", tmp_path / "out")
    (tmp_path / "b.jsonl").write_text('[{"text": "x"}]')
    with pytest.raises(TableError, match="one JSON array"):
        encode_corpus(tmp_path / "b.jsonl", "minilm", tmp_path / "out")
