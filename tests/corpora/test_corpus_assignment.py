"""Rows of a corpus get the centres that the splitters' own kernel gives them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from unseen.corpora import Centres, Shards, assign, fit_centres, open_shards, read_centres, write_centres
from unseen.corpora.assignment import nearest
from unseen.corpora.centres import sample_rows
from unseen.corpora.shards import to_bytes, write_shard
from unseen.errors import InputError, VectorsError
from unseen.splits.clustering import sweep
from unseen.splits.neighbours import DISTANCES, assign_all

DRAW = np.random.default_rng(3)
ROWS = (DRAW.normal(size=(7, 12))[DRAW.integers(7, size=500)] * 4 + DRAW.normal(size=(500, 12)) + 30).astype(np.float32)


def write_vectors(folder: Path, order: Any = range(500), size: int = 60) -> Shards:
    order = np.asarray(order)
    sizes = {}
    for number, start in enumerate(range(0, len(order), size)):
        some = order[start : start + size]
        column = pa.FixedSizeListArray.from_arrays(pa.array(ROWS[some].reshape(-1)), ROWS.shape[1])
        name = f"{folder.name}{number:028}"
        write_shard(folder, name, to_bytes(pa.table({"id": [f"r{i}" for i in some], "vector": column})))
        sizes[name] = len(some)
    return Shards(folder, "vectors", sizes, {"encoder": "given"}).write_manifest()


def by_kernel(centres: Centres) -> Any:
    """What `sweep` does with rows that were not in its sample."""
    shift = centres.vectors.mean(axis=0, dtype=np.float64).astype(np.float32) * (centres.metric == "euclidean")
    with ThreadPoolExecutor(1) as pool:
        weights = np.ones(len(ROWS), np.float32)
        ((labels, inertia),) = assign_all(ROWS, weights, shift, centres.metric, [centres.vectors - shift], pool)
    return labels, inertia


@pytest.mark.parametrize("metric", DISTANCES)
def test_the_nearest_centre_by_brute_force_and_by_the_kernel(metric: str) -> None:
    (found,) = sweep(ROWS, [9], metric=metric)
    labels, distances = nearest(ROWS, found.centres, metric)
    assert (labels == by_kernel(Centres(found.centres, metric))[0]).all()
    assert (labels == found.labels).mean() > 0.99  # the sweep stops before the last row has moved
    rows = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True) if metric == "cosine" else ROWS
    every = np.linalg.norm(rows[:, None].astype(float) - found.centres, axis=2)
    assert (every.argmin(axis=1) == labels).all()
    np.testing.assert_allclose(distances, every.min(axis=1), rtol=1e-4)


@pytest.mark.slow
def test_a_corpus_is_assigned_as_the_kernel_does(cluster: None, tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "vv")
    centres = fit_centres(vectors, 6)
    made = assign(vectors.path, centres, tmp_path / "out", workers=2)
    rows = pa.concat_tables([table for _, table in made.tables()])
    places = [int(each.removeprefix("r")) for each in rows["id"].to_pylist()]
    assert sorted(places) == list(range(500))
    labels, inertia = by_kernel(centres)
    assert (rows["cluster"].to_numpy() == labels[places]).all()
    assert np.square(rows["distance"].to_numpy(), dtype=float).sum() == pytest.approx(inertia, rel=1e-3)
    assert made.about["sizes"] == np.bincount(labels, minlength=6).tolist()
    lost = next(iter(made.shards))
    kept = {made.file(each): made.file(each).stat().st_mtime_ns for each in made.shards if each != lost}
    made.file(lost).unlink()
    with pytest.raises(InputError, match=r"1 shards of .* are gone"):
        open_shards(made.path, "clusters")
    assert assign(vectors, centres, tmp_path / "out", workers=2).about == made.about
    assert {file: file.stat().st_mtime_ns for file in kept} == kept


def test_centres_come_from_ids_not_from_order(tmp_path: Path) -> None:
    one = write_vectors(tmp_path / "aa")
    other = write_vectors(tmp_path / "bb", np.random.default_rng(1).permutation(500), 37)
    first, second = (fit_centres(each, 5, sample=200).vectors for each in (one, other))
    drawn, again, otherwise = sample_rows(one, 200, 42), sample_rows(other, 200, 42), sample_rows(one, 200, 43)
    np.testing.assert_array_equal(np.unique(drawn, axis=0), np.unique(again, axis=0))
    np.testing.assert_allclose(first, second)
    assert len(drawn) == 200
    assert not np.array_equal(np.unique(drawn, axis=0), np.unique(otherwise, axis=0))
    assert len(sample_rows(one, 10_000, 42)) == 500


def test_centres_come_back_from_their_file(tmp_path: Path) -> None:
    made = Centres(ROWS[:3], "cosine", {"k": 3})
    read = read_centres(write_centres(made, tmp_path / "centres.npy"))
    assert (read.vectors == made.vectors).all()
    assert (read.metric, read.about, read.key) == (made.metric, made.about, made.key)
    assert len({made.key, Centres(ROWS[:3]).key, Centres(ROWS[1:4], "cosine").key}) == 3
    np.save(tmp_path / "centres.npy", ROWS[:4])
    with pytest.raises(InputError, match="was changed"):
        read_centres(tmp_path / "centres.npy")
    np.save(tmp_path / "foreign.npy", ROWS[:4])
    with pytest.raises(InputError, match="holds no centres"):
        read_centres(tmp_path / "foreign.npy")


def test_wrong_centres_and_folders(tmp_path: Path) -> None:
    vectors = write_vectors(tmp_path / "vv")
    with pytest.raises(InputError, match="metric must be one of"):
        Centres(ROWS[:3], "manhattan")
    with pytest.raises(VectorsError, match="centres must be a table"):
        Centres(ROWS[0])
    with pytest.raises(VectorsError, match="the centres have 11 numbers, the vectors 12"):
        nearest(ROWS, ROWS[:3, :11], "euclidean")
    with pytest.raises(InputError, match="5 centres need"):
        fit_centres(vectors, 5, sample=4)
    with pytest.raises(InputError, match="not a finished folder of vectors"):
        assign(tmp_path, Centres(ROWS[:3]), tmp_path / "out")
    with pytest.raises(InputError, match="holds vectors"):
        open_shards(vectors.path, "clusters")
