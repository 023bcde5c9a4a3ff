from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unseen.splits import SubsetSumSplit
from unseen.splits.clustering import sweep

KS = [3, 5, 8, 11]


def least_missing(X, y, quota):
    """By trying every choice of clusters for every k: rows missing, and the smallest such k."""
    best = (int(quota.sum()) + 1, 0)
    for each in sweep(X, KS, weights=np.ones(len(X))):
        counts = np.array([np.bincount(y[each.labels == c], minlength=len(quota)) for c in range(each.k)])
        sums = np.array(list(product([0, 1], repeat=each.k))) @ counts
        missing = int(quota.sum() - sums[(sums <= quota).all(axis=1)].sum(axis=1).max())
        best = min(best, (missing, each.k))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_it_finds_the_optimum_over_all_k(blobs, seed):
    X, y = blobs(200, 4, classes=2 + seed % 3, seed=seed)
    splitter = SubsetSumSplit(0.2, n_clusters=KS)
    next(splitter.split(X, y))
    (certificate,) = splitter.certificates_
    quota = np.array([certificate.asked[str(label)] for label in range(y.max() + 1)])
    assert (certificate.completed, certificate.n_clusters) == least_missing(X, y, quota)
    assert certificate.optimal
    assert certificate.missed == 0


@pytest.mark.parametrize("seed", range(8))
def test_clusters_are_whole_but_for_the_divided_one(blobs, seed):
    X, y = blobs(300, 4, classes=2, seed=seed)
    splitter = SubsetSumSplit(0.2, n_clusters=[8, 12])
    train, test = next(splitter.split(X, y))
    clusters = splitter.clusters_[0]
    divided = np.intersect1d(clusters[train], clusters[test])
    assert len(divided) <= 1
    assert np.isin(clusters[test], divided).sum() == splitter.certificates_[0].completed


def test_another_seed_divides_the_cluster_elsewhere(blobs):
    X, y = blobs(300, 4, classes=3, seed=0)
    found = {
        tuple(next(SubsetSumSplit(0.2, n_clusters=4, n_init=30, random_state=seed).split(X, y))[1]) for seed in range(4)
    }
    assert len(found) > 1


def test_with_groups_no_group_is_on_both_sides(blobs):
    X, y = blobs(400, 5, seed=2)
    users = np.random.default_rng(1).integers(0, 80, 400)
    splitter = SubsetSumSplit(0.2, n_clusters=[8, 12])
    train, test = next(splitter.split(X, y, users))
    assert not set(users[train]) & set(users[test])
    asked = np.array([splitter.certificates_[0].asked[str(label)] for label in range(3)])
    assert np.abs(np.bincount(y[test]) - asked).sum() == splitter.certificates_[0].missed <= 4


def test_three_classes_and_all_k_of_many_rows_are_exact(blobs):
    X, y = blobs(17_305, 10, centres=40, classes=3)
    splitter = SubsetSumSplit(0.1, n_init=2)
    _, test = next(splitter.split(X, y))
    assert len(test) == 1730
    assert splitter.certificates_[0].optimal
    assert splitter.certificates_[0].completed_share < 0.01


def test_without_time_nothing_is_proven_but_size_and_mix_are_met(blobs):
    X, y = blobs(300, 4, seed=0)
    splitter = SubsetSumSplit(0.2, n_clusters=[8, 12], time_limit=0)
    _, test = next(splitter.split(X, y))
    (certificate,) = splitter.certificates_
    assert not certificate.optimal
    assert certificate.completed == len(test) == 60
    assert certificate.missed == 0
