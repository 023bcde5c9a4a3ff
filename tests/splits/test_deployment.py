from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InputError, VectorsError
from unseen.splits import ClosestSplit, DeploymentSplit, RandomSplit
from unseen.splits.neighbours import nearest_distances
from unseen.types.numbers import number

KS = [4, 8, 12]


def distance(X, pair):
    return nearest_distances(X[pair[1]], X[pair[0]]).mean()


def deployed(X, y, deployment):
    splitter = DeploymentSplit(0.2, deployment=deployment, n_clusters=KS, n_init=3)
    return next(splitter.split(X, y)), splitter.certificates_[0].notes[-1]


def test_deployment_like_the_data_is_like_random(blobs):
    X, y = blobs(500, 5, seed=0)
    data, more = np.arange(400), np.arange(400, 500)
    pair, note = deployed(X[data], y[data], X[more])
    chance = [distance(X, next(RandomSplit(0.2, random_state=seed).split(X[data], y[data]))) for seed in range(10)]
    assert distance(X, pair) == pytest.approx(np.mean(chance), rel=0.3)
    assert "farther" not in note


def test_far_deployment_gives_the_hardest_split_and_says_so(blobs):
    X, y = blobs(300, 5, seed=1)
    X = np.abs(X) + 1
    (_, test), note = deployed(X, y, -X[:20])
    assert "farther than the hardest split here" in note
    assert set(test) == set(next(ClosestSplit(0.2, n_clusters=KS, n_init=3).split(X, y))[1])


def test_far_deployment_gives_closest_even_where_an_easier_part_is_farther(blobs):
    X, y = blobs(120, 4, centres=1, classes=2, seed=11)
    splitter = DeploymentSplit(0.2, deployment=-X[:20], n_clusters=KS)
    _, test = next(splitter.split(X, y))
    assert splitter.curve_[0, 1] < splitter.curve_[-1, 1] < splitter.curve_[:, 1].max()
    assert set(test) == set(next(ClosestSplit(0.2, n_clusters=KS).split(X, y))[1])


def test_deployment_that_is_the_data_is_nearer_than_random(blobs):
    X, y = blobs(300, 5, seed=2)
    _, note = deployed(X, y, X[:50])
    assert "nearer than a random split" in note


def test_the_split_is_as_far_as_deployment(blobs):
    X, y = blobs(300, 5, seed=3, spread=1.5)
    rng = np.random.default_rng(0)
    wanted, got = [], []
    for noise in (0.5, 1.0, 2.0):
        deployment = (X[:100] + rng.normal(size=(100, 5)) * noise).astype(np.float32)
        pair, note = deployed(X, y, deployment)
        wanted.append(nearest_distances(deployment, X).mean())
        got.append(distance(X, pair))
        assert f"deployment is {number(wanted[-1], 4)} from the data" in note
    assert wanted == sorted(wanted)
    assert got == sorted(got)


@pytest.mark.parametrize(
    ("deployment", "message"),
    [
        (None, "needs deployment vectors"),
        (np.ones((3, 4)), "rows of 6 numbers"),
        (np.ones((0, 6)), "do not fit"),
        (np.full((3, 6), np.nan), "not finite"),
        ("vectors.npy", "must be numbers"),
        (np.zeros((3, 6)), "all zeros"),
    ],
)
def test_wrong_deployments_are_refused(blobs, deployment, message):
    X, y = blobs(100)
    with pytest.raises((InputError, VectorsError), match=message):
        next(DeploymentSplit(0.2, deployment=deployment).split(X, y))
