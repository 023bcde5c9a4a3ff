"""Texts labelled against their neighbourhood."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from unseen.audits import label_conflict
from unseen.audits.label_conflict import nearest_rows
from unseen.errors import InputError
from unseen.types import Embeddings, Predictions


@pytest.mark.parametrize("at_once", [16_000_000, 700])
def test_neighbours_are_those_of_scikit_learn(at_once):
    draw = np.random.default_rng(0)
    rows, train = (draw.normal(size=(n, 8)).astype(np.float32) for n in (57, 300))
    theirs = NearestNeighbors(n_neighbors=10, metric="cosine").fit(train).kneighbors(rows, return_distance=False)
    assert np.array_equal(np.sort(nearest_rows(rows, train, 10, at_once)), np.sort(theirs))


def test_fewer_rows_than_neighbours_are_all_neighbours():
    ones = np.ones((3, 2), np.float32)
    assert np.sort(nearest_rows(ones, ones, 10)).tolist() == [[0, 1, 2]] * 3


@pytest.fixture
def case(tiny):
    """Ten "no" texts to the left, ten "yes" to the right; then four test texts."""
    ids = [f"r{i:02}" for i in range(24)]
    labels = ["no"] * 10 + ["yes"] * 10 + ["yes", "yes", "no", "yes"]
    data = tiny(ids=ids, labels=labels)
    at = np.array([[1.0, 0.0]] * 10 + [[0.0, 1.0]] * 10 + [[1.0, 0.0]] * 3 + [[0.0, 1.0]], dtype=np.float32)
    vectors = at + np.random.default_rng(0).normal(0, 0.02, at.shape).astype(np.float32)
    p = np.full((24, 2), 0.5)
    p[20:] = [[0.9, 0.1], [0.3, 0.7], [0.9, 0.1], [0.6, 0.4]]  # what the model without them says
    return data, Embeddings(data.ids, vectors), Predictions(data.ids, p, data.label_names)


def test_both_witnesses_must_deny_the_label(case):
    data, vectors, said = case
    found = label_conflict(data, np.arange(20, 24), np.arange(20), vectors, said, k=5)
    assert found.against_neighbours.tolist() == [True, True, False, False]
    assert found.against_model.tolist() == [True, False, False, True]
    assert found.conflict.tolist() == [True, False, False, False]
    assert found.share == 0.25
    assert found.margin == pytest.approx([-0.8, 0.4, 0.8, -0.2])
    assert found.worst.tolist() == [20]


def test_a_tie_of_neighbours_denies_nothing(case):
    data, vectors, said = case
    found = label_conflict(data, np.arange(20, 24), np.arange(20), vectors, said, k=20)
    assert not found.conflict.any()


def test_the_clearest_conflict_comes_first(case):
    data, vectors, _ = case
    p = np.full((24, 2), 0.5)
    p[20:22] = [[0.6, 0.4], [0.8, 0.2]]
    said = Predictions(data.ids, p, data.label_names)
    assert label_conflict(data, np.arange(20, 24), np.arange(20), vectors, said, k=5).worst.tolist() == [21, 20]


def test_a_side_without_rows_is_refused(case):
    data, vectors, said = case
    with pytest.raises(InputError, match="both sides"):
        label_conflict(data, np.arange(0), np.arange(20), vectors, said)
