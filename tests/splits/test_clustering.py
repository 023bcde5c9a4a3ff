from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.cluster import KMeans

from unseen.errors import InputError, VectorsError
from unseen.splits import clustering, neighbours
from unseen.splits.clustering import sweep
from unseen.splits.vectors import row_keys, unit_rows


def normal(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)


def correlated():
    return (normal(800, 12) @ normal(12, 12, 1)).astype(np.float32)


def sparse_svd():
    """Like TF-IDF reduced: counts of Zipf-distributed words, a few dimensions kept."""
    counts = np.random.default_rng(3).poisson(3.0 / np.arange(1, 301), size=(600, 300))
    left, values, _ = np.linalg.svd(np.log1p(counts), full_matrices=False)
    return (left[:, :20] * values[:20]).astype(np.float32)


def repeated():
    return np.repeat(normal(60, 5), np.random.default_rng(1).integers(1, 25, 60), axis=0)


SHAPES = {
    "blobs": lambda: (np.repeat(normal(9, 6) * 5, 80, axis=0) + normal(720, 6, 1)).astype(np.float32),
    "correlated": correlated,
    "sparse svd": sparse_svd,
    "repeated": repeated,
    "plane": lambda: normal(700, 2),
    "wide": lambda: normal(150, 384),
}


def squared_distances(X, centres):
    return ((X[:, None].astype(np.float64) - centres[None].astype(np.float64)) ** 2).sum(axis=2)


def assert_nearest(X, found, slack=1e-5):
    """Every row has the label of its nearest centre, and the inertia is that of these labels."""
    squared = squared_distances(X, found.centres)
    own = squared[np.arange(len(X)), found.labels]
    assert (own <= squared.min(axis=1) + slack * squared.max()).all()
    assert found.inertia == pytest.approx(own.sum(), rel=1e-3, abs=1e-3)


def reference_inertia(X, k, spherical=False, weights=None):
    """What scikit-learn reaches with ten initialisations."""
    middle = X.mean(axis=0, dtype=np.float64)
    centres = KMeans(k, n_init=10, random_state=0).fit(X - middle, sample_weight=weights).cluster_centers_ + middle
    if spherical:
        centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    return squared_distances(X, centres).min(axis=1) @ (np.ones(len(X)) if weights is None else weights)


def assert_as_good(found, references):
    """Within 0.5 % over all k; for one k of a small set each of the two may be lucky."""
    ratios = np.array([each.inertia for each in found]) / np.array(references)
    assert ratios.mean() <= 1.005, ratios
    assert ratios.max() <= 1.02, ratios


def same(first, second):
    return all(
        (a.labels == b.labels).all() and (a.centres == b.centres).all() and a.inertia == b.inertia
        for a, b in zip(first, second, strict=True)
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_inertia_is_that_of_scikit_learn_or_better_for_every_k(shape):
    X, ks = SHAPES[shape](), [2, 3, 4, 6, 9, 13, 20, 32]
    found = sweep(X, ks)
    assert_as_good(found, [reference_inertia(X, k) for k in ks])
    for each in found:
        assert_nearest(X, each)
        assert (np.bincount(each.labels, minlength=each.k) > 0).all()


@pytest.mark.usefixtures("forgetful")
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_one_thread_and_two_give_identical_clusterings(metric):
    X = correlated()
    first, second, again = (sweep(X, range(3, 15), metric=metric, threads=threads) for threads in (1, 2, 2))
    assert same(first, second)
    assert same(second, again)


PROGRAM = """
import hashlib, numpy as np
from unseen.splits.clustering import sweep
X = np.random.default_rng(5).normal(size=(500, 8)).astype(np.float32)
for each in sweep(X, [3, 8, 17]):
    print(hashlib.sha256(each.labels.tobytes() + each.centres.tobytes()).hexdigest())
"""


def test_two_processes_give_identical_clusterings_whatever_their_threads():
    printed = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env=os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads},
            capture_output=True, text=True, check=True,
        ).stdout
        for threads in ("1", "2")
    ]  # fmt: skip
    assert printed[0] == printed[1]
    assert len(set(printed[0].split())) == 3


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_order_of_rows_decides_nothing(metric):
    X = normal(400, 7)
    order = np.random.default_rng(9).permutation(len(X))
    for straight, shuffled in zip(
        sweep(X, [3, 7, 12], metric=metric), sweep(X[order], [3, 7, 12], metric=metric), strict=True
    ):
        assert (straight.labels[order] == shuffled.labels).all()
        assert np.allclose(straight.centres, shuffled.centres, atol=1e-6)


def test_weights_are_repeated_rows():
    X, times = normal(120, 4), np.random.default_rng(2).integers(1, 9, 120)
    weighted = sweep(X, range(2, 13), weights=times)
    spelled_out = sweep(np.repeat(X, times, axis=0), range(2, 13))
    assert_as_good(weighted, [reference_inertia(X, k, weights=times) for k in range(2, 13)])
    assert_as_good(weighted, [each.inertia for each in spelled_out])
    for each in weighted:
        squared = squared_distances(X, each.centres)[np.arange(120), each.labels]
        assert each.inertia == pytest.approx((times * squared).sum(), rel=1e-4)


def test_cosine_is_spherical():
    X = (normal(500, 10) + 0.5) * np.random.default_rng(4).uniform(0.1, 10, size=(500, 1)).astype(np.float32)
    unit = unit_rows(X)
    found = sweep(X, [2, 5, 10, 20], metric="cosine")
    assert_as_good(found, [reference_inertia(unit, k, spherical=True) for k in (2, 5, 10, 20)])
    for each in found:
        assert np.linalg.norm(each.centres, axis=1) == pytest.approx(1, abs=1e-5)
        assert_nearest(unit, each)


def test_one_cluster_alone_and_among_others():
    X = normal(50, 3)
    (alone,) = sweep(X, [1])
    assert alone.inertia == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-5)
    assert [found.k for found in sweep(X, [3, 1, 2, 3])] == [1, 2, 3]


def test_as_many_clusters_as_rows():
    X = normal(20, 3)
    (found,) = sweep(X, [20])
    assert sorted(found.labels.tolist()) == list(range(20))
    assert found.inertia == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("k", [2, 7, 12])
def test_no_cluster_is_empty_when_most_rows_are_equal(k):
    X = np.concatenate([np.zeros((200, 3)), normal(11, 3)]).astype(np.float32)
    (found,) = sweep(X, [k])
    assert (np.bincount(found.labels, minlength=k) > 0).all()


def test_no_cluster_is_empty_when_directions_repeat():
    for seed in range(30):
        X = normal(20, 2, seed).round() + np.float32([0.25, 0])
        ks = [3, len(np.unique(X, axis=0))]
        for found in sweep(X, ks, metric="cosine", n_init=2):
            assert (np.bincount(found.labels, minlength=found.k) > 0).all()


@pytest.mark.parametrize(
    ("X", "k", "message"),
    [
        (normal(10, 2), 11, "asks for 11 clusters of 10 rows"),
        (np.repeat(normal(4, 2), 10, axis=0), 5, "only 4 different vectors for 5 clusters"),
        (np.ones((30, 4), np.float32), 3, "all vectors are the same"),
        (np.full((30, 4), -0.0, np.float32) * np.array([[1], [-1]] * 15, np.float32), 3, "all vectors are the same"),
    ],
)  # fmt: skip
def test_more_clusters_than_the_rows_can_fill_are_refused(X, k, message):
    with pytest.raises(InputError, match=message):
        sweep(X, [3, k])


def test_zeros_have_no_direction():
    X = normal(30, 4)
    X[[3, 7]] = 0
    assert len(sweep(X, [3])) == 1
    with pytest.raises(VectorsError, match="2 of 30 vectors are all zeros"):
        sweep(X, [3], metric="cosine")


@pytest.mark.parametrize(
    "wrong",
    [{"metric": "manhattan"}, {"n_init": 0}, {"max_iter": 0}, {"ks": []}, {"ks": [0]}, {"ks": [3.7]}, {"ks": ["x"]}],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError):
        sweep(normal(30, 4), **{"ks": [3]} | wrong)


def test_an_offset_changes_nothing():
    X = SHAPES["blobs"]()
    for found in sweep(X + 10_000, [3, 9]):
        assert found.inertia <= 1.005 * reference_inertia(X, found.k)
        assert_nearest(X.astype(np.float64) + 10_000, found, slack=1e-3)


@pytest.fixture
def sampling(monkeypatch, forgetful):
    monkeypatch.setattr(clustering, "SAMPLE_ABOVE", 1000)
    monkeypatch.setattr(clustering, "SAMPLE", 500)
    monkeypatch.setattr(neighbours, "ASSIGNED_AT_ONCE", 200)


@pytest.mark.usefixtures("sampling")
@pytest.mark.parametrize(("metric", "offset"), [("euclidean", 0), ("euclidean", 10_000), ("cosine", 0)])
def test_with_centres_from_a_sample_every_row_still_has_its_nearest(metric, offset):
    X = np.repeat(normal(7, 5) * 5, 300, axis=0) + normal(2100, 5, 1) + np.float32(offset)
    compared = unit_rows(X) if metric == "cosine" else X
    for found in sweep(X, [3, 7, 12], metric=metric):
        assert_nearest(compared, found, slack=1e-3 if offset else 1e-5)
        assert found.inertia <= 1.05 * reference_inertia(compared, found.k, metric == "cosine")


@pytest.mark.usefixtures("sampling")
def test_vectors_on_disk_give_what_vectors_in_memory_give(tmp_path):
    X = normal(3000, 6)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert same(sweep(X, [3, 8], threads=1), sweep(mapped, [3, 8], threads=2))


@pytest.mark.usefixtures("sampling")
def test_a_sample_does_not_depend_on_the_order_of_rows():
    X = normal(3000, 6)
    order = np.random.default_rng(9).permutation(len(X))
    (straight,), (shuffled,) = sweep(X, [8]), sweep(X[order], [8])
    assert (straight.labels[order] == shuffled.labels).all()


def test_the_last_answer_is_only_given_to_the_same_question():
    X, keys = normal(200, 4), np.arange(200, dtype=np.uint64)
    first = sweep(X, [3, 6], keys=keys)
    assert same(first, sweep(X, [3, 6], keys=keys))
    others = [
        sweep(normal(200, 4, 1), [3, 6], keys=keys),
        sweep(X[::-1].copy(), [3, 6], keys=keys),
        sweep(X, [3, 6], keys=keys, seed=7, n_init=1),
        sweep(X, [3, 6], keys=keys, metric="cosine"),
        sweep(X, [3, 6], keys=keys, weights=np.arange(1, 201)),
        sweep(X, [3, 6], keys=keys, max_iter=1, n_init=1),
        sweep(X, [4, 6], keys=keys),
    ]
    assert not any(same(first, other) for other in others)


def test_an_answer_cannot_be_changed_for_the_next_who_asks():
    (found,) = sweep(normal(60, 4), [3])
    with pytest.raises(ValueError, match="read-only"):
        found.labels[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        found.centres[0] = 2


def test_keys_tell_rows_apart_and_nothing_else():
    X = normal(2000, 3)
    assert len(set(row_keys(X).tolist())) == 2000
    assert (row_keys(X[::-1].copy()) == row_keys(X)[::-1]).all()
    assert (row_keys(X.astype(np.float64)) == row_keys(X)).all()
    assert len(set(row_keys(np.array([[0.0, -0.0], [-0.0, 0.0]], np.float32)).tolist())) == 1
