from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InfeasibleError, InputError
from unseen.splits import HardKFold, RandomSplit
from unseen.splits.hard_kfold import fold_quotas
from unseen.splits.neighbours import nearest_distances
from unseen.splits.problem import pose


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize(("n", "folds"), [(300, 5), (303, 4), (97, 10), (60, 2)])
def test_folds_are_disjoint_cover_the_data_and_are_even(blobs, metric, n, folds):
    X, y = blobs(n, 5, seed=n)
    tests = [test for _, test in HardKFold(folds, metric=metric).split(X, y)]
    assert sorted(np.concatenate(tests)) == list(range(n))
    counts = np.array([np.bincount(y[test], minlength=3) for test in tests])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_every_fold_is_harder_than_a_random_one(blobs, seed):
    X, y = blobs(500, 8, centres=10, seed=seed)
    train, test = next(RandomSplit(0.2).split(X, y))
    chance = nearest_distances(X[test], X[train]).mean()
    for train, test in HardKFold(5).split(X, y):
        assert nearest_distances(X[test], X[train]).mean() > 1.15 * chance


@pytest.mark.parametrize("offset", [0, 10_000])
def test_clear_regions_are_the_folds(offset):
    regions = np.repeat(np.arange(4), 50)
    X = np.eye(4)[regions] + np.random.default_rng(0).normal(size=(200, 4)) * 0.02 + offset
    for _, test in HardKFold(4).split(X.astype(np.float32)):
        assert len(set(regions[test])) == 1


def test_groups_stay_whole_and_folds_nearly_even(blobs):
    X, y = blobs(400, 5, seed=1)
    users = np.random.default_rng(0).integers(0, 100, 400)
    splitter = HardKFold(4)
    tests = [test for _, test in splitter.split(X, y, users)]
    assert sorted(np.concatenate(tests)) == list(range(400))
    assert sum(len(set(users[test])) for test in tests) == len(set(users))
    assert max(certificate.missed for certificate in splitter.certificates_) <= 12
    assert [certificate.notes[0] for certificate in splitter.certificates_] == [f"fold {i} of 4" for i in (1, 2, 3, 4)]


def test_quotas_of_the_folds_add_up():
    y = np.repeat([0, 1, 2], [50, 31, 9])
    quota = fold_quotas(pose(y, None, 90, test_size=20), 4)
    assert sorted(quota.sum(axis=0).tolist()) == [9, 31, 50]
    assert sorted(quota.sum(axis=1).tolist()) == [22, 22, 23, 23]


@pytest.mark.parametrize("n_splits", [1, 0, 61, 2.5, "3"])
def test_wrong_numbers_of_folds_are_refused(blobs, n_splits):
    X, y = blobs(60)
    with pytest.raises(InputError, match="n_splits must be from 2"):
        next(HardKFold(n_splits).split(X, y))


def test_fewer_groups_than_folds_are_refused(blobs):
    X, y = blobs(60)
    with pytest.raises(InfeasibleError, match="3 groups cannot make 4 folds"):
        next(HardKFold(4).split(X, y, np.arange(60) % 3))
