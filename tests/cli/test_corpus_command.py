"""`unseen data corpus`: from texts to clusters by the commands alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import unseen
from tiny_transformer import write_transformer
from unseen.cli.corpus import app
from unseen.errors import InputError


def run(*words: Any) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


@pytest.mark.slow
def test_from_texts_to_clusters(cluster: None, folder: Path) -> None:
    write_transformer(folder / "model", ["rain", "wind", "bread", "soup", "goal", "team", *map(str, range(60))])
    words = ("encode", "posts.csv", "--id", "id", "--encoder", "model", "--batch", 20, "--workers", 2, "-o", "vectors")
    done = run(*words)
    assert done.stdout == "vectors: 60 vectors by transformer.v1:model in 3 shards\n"
    assert "encoding with transformer.v1:model: done in " in done.stderr
    again = json.loads(run(*words, "--json", "--quiet").stdout)
    assert (again["rows"], again["shards"], again["batch"]) == (60, 3, 20)
    assert run("centres", "vectors", "-k", 4).stdout == "centres.npy: 4 centres of 60 of 60 rows, euclidean\n"
    made = json.loads(run("assign", "vectors", "centres.npy", "-o", "clusters", "--workers", 1, "--json", "-q").stdout)
    assert (made["rows"], sum(made["sizes"]), made["k"]) == (60, 60, 4)
    rows = pq.read_table("clusters", columns=["id", "cluster"])
    assert sorted(rows["id"].to_pylist()) == sorted(unseen.load("posts.csv", id="id").ids.to_pylist())


def test_wrong_input(folder: Path) -> None:
    for words, said in (
        (("encode", "posts.csv", "--encoder", "tfidf", "-o", "vectors"), "needs all texts at once"),
        (("encode", "posts.csv", "--text", "txt", "-o", "vectors"), "no column called 'txt'"),
        (("encode", "posts.csv", "--batch", 0, "-o", "vectors"), "batch must be at least 1"),
        (("centres", "vectors", "-k", 3), "not a finished folder of vectors"),
        (("assign", "vectors", "centres.npy", "-o", "clusters"), "not a finished folder of vectors"),
    ):
        with pytest.raises(InputError, match=said):
            run(*words)
