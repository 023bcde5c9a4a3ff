from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge, RidgeClassifier

import unseen
from unseen.errors import InputError
from unseen.splits import ClosestSplit, NovelSplit
from unseen.splits.novel import PENALTY, Regression, default_ks
from unseen.splits.problem import pose


@pytest.mark.parametrize("grouped", [False, True])
def test_units_left_out_are_scored_as_by_a_regression_trained_without_them(grouped):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(60, 4)).astype(np.float32)
    counts = rng.integers(1, 4, (60, 3)) if grouped else np.eye(3, dtype=int)[rng.integers(0, 3, 60)]
    found = Regression.of(numbers, counts).without(np.arange(10))
    standard = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    sizes = counts.sum(axis=1)
    again = Ridge(alpha=PENALTY * counts.sum(), tol=1e-12)
    again.fit(standard[10:], (counts / sizes[:, None])[10:], sample_weight=sizes[10:])
    expected = (counts[:10] * again.predict(standard[:10]).clip(0, 1)).sum(axis=1)
    assert found == pytest.approx(expected, abs=1e-5)


def new_and_hard(seed=0):
    """Twelve regions, labelled by a line; in two of them all labels are the other way round, in two random."""
    rng = np.random.default_rng(seed)
    angle = np.arange(12) * np.pi / 6
    region = np.repeat(np.arange(12), 60)
    X = 6 * np.column_stack([np.cos(angle), np.sin(angle)])[region] + rng.normal(size=(720, 2)) * 0.4
    y = (X[:, 0] > 0).astype(int)
    new = (region == 0) | (region == 6)
    y[new] = 1 - y[new]
    hard = (region == 3) | (region == 9)
    y[hard] = rng.permutation(np.arange(120) % 2)
    return X.astype(np.float32), y, new, hard


@pytest.mark.parametrize("seed", range(3))
def test_it_takes_what_is_new_and_not_what_is_hard(seed):
    X, y, new, hard = new_and_hard(seed)
    splitter = NovelSplit(120 / 720, n_clusters=12)
    _, test = next(splitter.split(X, y))
    assert new[test].mean() > 0.9
    assert hard[test].mean() < 0.1
    assert splitter.novelty_ > splitter.chance_
    assert "little" not in splitter.certificates_[0].notes[1]


def test_it_says_when_there_is_little_that_is_new():
    rng = np.random.default_rng(0)
    splitter = NovelSplit(0.1)
    next(splitter.split(rng.normal(size=(800, 5)), rng.integers(0, 2, 800)))
    assert splitter.certificates_[0].notes[1].startswith("little novelty")


@pytest.mark.parametrize("classes", [2, 3, 12])
def test_clusters_stay_whole_and_classes_near_their_quota(blobs, classes):
    X, y = blobs(1200, 5, centres=40, classes=classes, seed=classes)
    splitter = NovelSplit(0.1, n_init=2)
    train, test = next(splitter.split(X, y))
    clusters, (certificate,) = splitter.clusters_[0], splitter.certificates_
    assert not set(clusters[train]) & set(clusters[test])
    assert certificate.completed == 0
    assert len(test) == 120
    for label, asked in certificate.asked.items():
        assert abs(certificate.got[label] - asked) <= min(0.02 * 120, asked / 2)


def test_every_one_of_many_classes_is_present():
    rng = np.random.default_rng(1)
    y, middles = np.repeat(np.arange(15), 40), rng.normal(size=(45, 10)) * 3
    X = middles[y * 3 + np.arange(600) % 3] + rng.normal(size=(600, 10)) / 3
    train, test = next(NovelSplit(0.1, n_clusters=[30, 90], n_init=1).split(X, y))
    assert set(y[test]) == set(y[train]) == set(range(15))


def test_small_quotas_mean_more_and_smaller_clusters():
    def finest(classes, each):
        y = np.arange(classes * each) % classes
        return default_ks(pose(y, None, len(y), test_size=0.1), np.arange(len(y), dtype=np.uint64))[-1]

    assert finest(3, 1000) == finest(3, 30_000) < finest(77, 130) < finest(150, 100) == 2000


@pytest.mark.usefixtures("forgetful")
def test_the_order_of_rows_decides_nothing(blobs):
    X, y = blobs(400, 4, seed=5)
    X[:40], y[:40] = X[40:80], np.roll(y[40:80], 1)
    first, *_ = NovelSplit(0.1, n_init=2).folds(X, y)
    shuffled = np.random.default_rng(0).permutation(400)
    again, *_ = NovelSplit(0.1, n_init=2).folds(X[shuffled], y[shuffled])
    assert (again.test == first.test[shuffled]).all()
    assert again.certificate == first.certificate


@pytest.mark.parametrize("changes", [{"y": None}, {"stratify": False}], ids=["no labels", "no mix"])
def test_without_classes_nothing_is_new(blobs, changes):
    X, y = blobs(100, 4)
    y = changes.pop("y", y)
    with pytest.raises(InputError, match="labels of at least two classes"):
        next(NovelSplit(0.2, **changes).split(X, y))


def test_on_the_sample_it_finds_texts_that_are_easy_when_seen_and_hard_when_not():
    data = unseen.load("sample")
    data = data.take(np.flatnonzero(np.array(data.attribute("noisy").to_pylist()) == "no"))
    split = unseen.split(data, "novel")
    test, train = split.rows("test"), split.rows("train")
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(data.texts.to_pylist())

    def right(trained, tested):
        model = RidgeClassifier().fit(words[trained], data.labels[trained])
        return (model.predict(words[tested]) == data.labels[tested]).mean()

    shuffled = np.random.default_rng(0).permutation(test)
    folds = [shuffled[fold::5] for fold in range(5)]
    seen = np.mean([right(np.concatenate([train, np.setdiff1d(test, fold)]), fold) for fold in folds])
    assert seen - right(train, test) > 0.1
    assert seen > 0.9
    assert all(
        abs(split.certificate.got[name] - asked) <= 0.02 * len(test) for name, asked in split.certificate.asked.items()
    )
    assert not set(split.clusters[train]) & set(split.clusters[test])


def test_it_is_for_vectors_that_never_saw_the_labels():
    assert NovelSplit.space == "untrained"
    assert ClosestSplit.space == "own"
