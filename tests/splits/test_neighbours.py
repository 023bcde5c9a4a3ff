from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from unseen.errors import InputError, VectorsError
from unseen.splits import neighbours
from unseen.splits.neighbours import nearest_distances, nearest_rows, sampled


@pytest.mark.parametrize(("metric", "offset"), [("cosine", 0), ("euclidean", 0), ("euclidean", 10_000)])
def test_distances_are_those_of_scikit_learn(monkeypatch, metric, offset):
    monkeypatch.setattr(neighbours, "TRAIN_ROWS_AT_ONCE", 70)
    rows, train = np.random.default_rng(0).normal(size=(2, 300, 7)).astype(np.float32) + np.float32(offset)
    expected = pairwise_distances(rows.astype(float), train.astype(float), metric=metric).min(axis=1)
    assert nearest_distances(rows, train, metric) == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_a_row_is_no_distance_from_itself():
    rows = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    assert nearest_distances(rows, rows[::-1]) == pytest.approx(0, abs=1e-6)


def test_vectors_on_disk_are_read_in_blocks(tmp_path):
    rows = np.random.default_rng(0).normal(size=(9000, 3)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert (nearest_distances(rows[:20], mapped[20:]) == nearest_distances(rows[:20], rows[20:])).all()


def test_unknown_metrics_and_zeros_are_refused():
    with pytest.raises(InputError, match="metric must be one of"):
        nearest_distances(np.ones((2, 2)), np.ones((2, 2)), "manhattan")
    with pytest.raises(VectorsError, match="all zeros"):
        nearest_distances(np.zeros((2, 2)), np.ones((2, 2)))


def test_a_sample_is_of_the_rows_and_no_larger_than_asked():
    rows = np.arange(100, 200)
    assert (sampled(rows, 0, 100) == rows).all()
    few = sampled(rows, 0, 10)
    assert len(set(few)) == 10
    assert set(few) <= set(rows)
    assert (few == sampled(rows, 0, 10)).all()
    assert (few != sampled(rows, 1, 10)).any()


def test_nearest_rows_are_those_of_brute_force() -> None:
    draw = np.random.default_rng(3)
    vectors = draw.normal(size=(2_300, 7)).astype(np.float32)
    among = np.sort(draw.permutation(2_300)[:400])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    rows = np.arange(2_300)
    vectors[5] = 0
    nearest, cosines = nearest_rows(vectors, rows, among, 3)
    assert not cosines[5].any()  # it has no direction
    for row in rows[::97]:
        order = among[np.argsort(-(unit[among] @ unit[row]), kind="stable")[:3]]
        assert nearest[row].tolist() == order.tolist()
        assert np.allclose(cosines[row], unit[order] @ unit[row], atol=1e-6)
