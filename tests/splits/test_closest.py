from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InfeasibleError
from unseen.splits import ClosestSplit, RandomSplit, SubsetSumSplit
from unseen.splits.clustering import sweep
from unseen.splits.latent import unit_vectors
from unseen.splits.neighbours import nearest_distances
from unseen.splits.problem import pose
from unseen.splits.vectors import row_keys

KS = [3, 5, 8, 12, 17]


def cosine(a, b):
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def region_of(centres, labels, y, target):
    """Züfle (2023), section 2.2, word by word: the clusters chosen from one clustering."""
    k = len(centres)
    counts = [[int(((labels == c) & (y == label)).sum()) for label in range(len(target))] for c in range(k)]
    middle = sum(centres) / k
    start = None
    for cluster in sorted(range(k), key=lambda c: cosine(centres[c], middle)):
        if all(have <= want for have, want in zip(counts[cluster], target, strict=True)):
            start = cluster
            break
    if start is None:
        return []
    chosen = [start]
    while len(chosen) < k:
        rest = [c for c in range(k) if c not in chosen]
        nearest = max(rest, key=lambda c: max(cosine(centres[c], centres[own]) for own in chosen))
        total = np.sum([counts[c] for c in [*chosen, nearest]], axis=0)
        if (total > target).any():
            break
        chosen.append(nearest)
    return chosen


def closest_of(X, y, target, clusterings):
    """The test rows, and how many of them were completed singly."""
    X = X.astype(np.float64)
    fewest, chosen = None, None
    for each in clusterings:
        region = region_of(each.centres.astype(np.float64), each.labels, y, target)
        rows = np.isin(each.labels, region)
        if region and (fewest is None or sum(target) - rows.sum() < fewest):
            fewest, chosen = sum(target) - rows.sum(), rows
    mean = X[chosen].mean(axis=0)
    test = set(np.flatnonzero(chosen).tolist())
    for label, want in enumerate(target):
        candidates = [row for row in np.flatnonzero(y == label).tolist() if row not in test]
        candidates.sort(key=lambda row: -cosine(X[row], mean))
        test |= set(candidates[: want - int((y[chosen] == label).sum())])
    return test, int(fewest)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_method_of_the_thesis(blobs, metric, seed):
    X, y = blobs(250, 4, classes=2 + seed % 3, seed=seed)
    splitter = ClosestSplit(0.2, n_clusters=KS, metric=metric)
    _, test = next(splitter.split(X, y))
    (certificate,) = splitter.certificates_
    target = [certificate.asked[str(label)] for label in range(y.max() + 1)]
    expected, completed = closest_of(X, y, target, sweep(X, KS, weights=np.ones(250), metric=metric))
    assert set(test.tolist()) == expected
    assert certificate.completed == completed
    assert certificate.completed_share == completed / 50


def test_the_region_is_the_whole_clusters_and_the_rest_is_completed(blobs):
    X, y = blobs(300, 5, seed=3)
    splitter = ClosestSplit(0.2, n_clusters=KS)
    _, test = next(splitter.split(X, y))
    clusters = splitter.clusters_[0]
    whole = [c for c in np.unique(clusters) if set(np.flatnonzero(clusters == c)) <= set(test)]
    assert np.isin(clusters[test], whole).sum() >= len(test) - splitter.certificates_[0].completed


def test_it_is_farther_from_training_than_a_random_part(blobs):
    X, y = blobs(400, 8, seed=1)
    hard, easy = (next(splitter.split(X, y)) for splitter in (ClosestSplit(0.2, n_clusters=KS), RandomSplit(0.2)))
    assert nearest_distances(X[hard[1]], X[hard[0]]).mean() > 2 * nearest_distances(X[easy[1]], X[easy[0]]).mean()


def test_ties_go_to_the_smallest_k():
    X = np.repeat(np.eye(4) + 0.1, 10, axis=0).astype(np.float32)
    X += np.random.default_rng(0).normal(size=X.shape).astype(np.float32) * 0.001
    splitter = ClosestSplit(10, n_clusters=[4, 5, 6], stratify=False)
    next(splitter.split(X))
    assert splitter.certificates_[0].n_clusters == 4
    assert splitter.certificates_[0].completed == 0


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_with_groups_no_group_is_on_both_sides_and_size_and_mix_are_as_certified(blobs, metric):
    X, y = blobs(400, 5, seed=2)
    users = np.random.default_rng(1).integers(0, 80, 400)
    splitter = ClosestSplit(0.2, n_clusters=[10, 20, 30], metric=metric)
    train, test = next(splitter.split(X, y, users))
    (certificate,) = splitter.certificates_
    assert not set(users[train]) & set(users[test])
    got = np.bincount(y[test], minlength=3)
    asked = np.array([certificate.asked[str(label)] for label in range(3)])
    assert np.abs(got - asked).sum() == certificate.missed
    assert certificate.missed_at_least <= certificate.missed <= 4
    assert certificate.groups["count"] == len(set(users))


def test_groups_are_clustered_at_their_mean_with_their_weight(blobs):
    X, y = blobs(400, 5, centres=1, seed=2)
    users = np.minimum(np.random.default_rng(1).zipf(1.4, 400), 60)
    splitter = ClosestSplit(0.2, n_clusters=9, stratify=False)
    next(splitter.split(X, y, users))
    problem = pose(None, users, 400, test_size=0.2)
    means, keys = unit_vectors(problem, X, row_keys(X), "euclidean")
    assert np.allclose(means, [X[problem.units == unit].mean(axis=0) for unit in range(problem.n_units)], atol=1e-5)
    weighted, alike = (sweep(means, [9], weights=each, keys=keys)[0].labels for each in (problem.sizes, None))
    assert (splitter.clusters_[0] == weighted[problem.units]).all()
    assert (weighted != alike).any()


def test_groups_of_one_row_are_no_groups(blobs):
    X, y = blobs(200, 4, seed=5)
    (_, without), (_, single) = (
        next(ClosestSplit(0.2, n_clusters=KS).split(X, y, groups)) for groups in (None, range(200))
    )
    assert without.tolist() == single.tolist()


def test_clusters_that_are_all_too_large_are_refused_with_a_way_out(blobs):
    X, y = blobs(200, 4, centres=3, seed=5, spread=50)
    with pytest.raises(
        InfeasibleError, match=r"no cluster fits into a test part of 10 rows, with up to 3 clusters(.|\n)*n_clusters=12"
    ):
        next(ClosestSplit(10, n_clusters=3).split(X, y))


def test_by_default_k_goes_from_3_to_50_as_far_as_the_rows_allow(blobs, monkeypatch):
    asked = []
    monkeypatch.setattr("unseen.splits.latent.sweep", lambda X, ks, **_: asked.append(ks) or sweep(X, ks, n_init=1))
    for n in (300, 40):
        X, y = blobs(n, 4)
        next(ClosestSplit(0.3).split(X, y))
    assert asked == [list(range(3, 51)), list(range(3, 21))]


@pytest.mark.parametrize("wrong", ["3-50", [], [0], 3.5, [500]])
def test_wrong_numbers_of_clusters_are_refused(blobs, wrong):
    X, y = blobs(100)
    with pytest.raises(ValueError, match="n_clusters"):
        next(ClosestSplit(0.2, n_clusters=wrong).split(X, y))


@pytest.mark.parametrize("splitter", [ClosestSplit(0.1, n_init=1), SubsetSumSplit(0.1, n_init=1)], ids=repr)
def test_many_classes_have_a_region_each(splitter):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 40)
    X = (
        rng.normal(size=(60, 8))[y] * 4
        + rng.normal(size=(4, 8))[rng.integers(4, size=2400)]
        + rng.normal(size=(2400, 8)) / 4
    )
    _, test = next(splitter.split(X, y))
    (certificate,), (clusters,) = splitter.certificates_, splitter.clusters_
    assert (np.bincount(y[test]) == 4).all()
    assert "of each of 60 classes" in certificate.notes[0]
    assert certificate.completed_share < 0.5
    whole = [each for each in np.unique(clusters[test]) if np.isin(np.flatnonzero(clusters == each), test).all()]
    assert np.isin(clusters[test], whole).sum() >= len(test) - certificate.completed
    assert all(len(np.unique(y[clusters == each])) == 1 for each in np.unique(clusters))


def test_a_test_part_of_single_rows_is_not_called_proven():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 30)
    X = rng.normal(size=(40, 8))[y] * 6 + rng.normal(size=(1200, 8))
    splitter = ClosestSplit(0.1, n_clusters=200, n_init=1)
    next(splitter.split(X, y))
    (certificate,) = splitter.certificates_
    assert certificate.completed_share > 0.5
    assert certificate.optimal is None
    assert "hardly a region" in certificate.notes[-1]


def test_a_region_of_each_class_is_nearer_to_itself_than_to_its_class():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(40), 50)
    X = rng.normal(size=(40, 8))[y] * 6 + rng.normal(size=(2000, 8))
    _, test = next(ClosestSplit(0.1, n_init=1).split(X, y))
    spreads = [(X[y == code].std(axis=0).mean(), X[test][y[test] == code].std(axis=0).mean()) for code in range(40)]
    own, held_out = np.mean(spreads, axis=0)
    assert held_out < 0.9 * own


def test_the_error_that_remains_names_no_parameter_that_was_not_given():
    y = np.repeat(np.arange(2), 50)
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 3)), 25, axis=0)
    with pytest.raises(InfeasibleError, match="no cluster fits") as caught:
        next(ClosestSplit(4).split(X, y))
    assert "n_clusters" not in str(caught.value)


def test_clusters_of_one_text_are_no_region():
    """With one test text of each class every cluster within a class is one text: single texts are held out."""
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(240, 6)), np.repeat(np.arange(60), 4)
    splitter = ClosestSplit(0.25, n_init=1)
    next(splitter.split(X, y))
    (certificate,) = splitter.certificates_
    assert certificate.completed_share > 0.5
    assert certificate.optimal is None
    assert "hardly a region" in certificate.notes[-1]
