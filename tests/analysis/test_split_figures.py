from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import ShuffleSplit

import unseen
from unseen.errors import InputError, MismatchError
from unseen.types import Embeddings


def points(n=120, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, 5))[rng.integers(0, 6, n)] * 4 + rng.normal(size=(n, 5))).astype(np.float32)


@pytest.fixture(scope="module")
def data(tiny):
    sources = ["app", "app", "mail"] * 40
    return tiny(ids=[f"{row:03}" for row in range(120)], source=sources, part=["train", "test", "train", "dev"] * 30)


def by_name(rows):
    return {(row.metric, row.tags["part"], row.slice): row for row in rows}


def test_sizes_and_mixes_of_every_part(data):
    split = unseen.split(data, "random", test=20, dev=10, independent=30)
    found = by_name(unseen.analyse(data, split))
    for part, size in {"train": 60, "dev": 10, "test": 20, "independent": 30}.items():
        assert found["rows", part, "all"].value == size
        labels = data.labels[split.rows(part)]
        assert found["label_share", part, "label=yes"].value == pytest.approx(labels.mean())
        assert found["label_share", part, "label=no"].n == size


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_distances_are_those_of_scikit_learn(data, metric):
    X, split = points(), unseen.split(data, "random", test=30, dev=10, independent=20)
    found = by_name(unseen.analyse(data, split, X, metric=metric))
    train = np.concatenate([split.rows("train"), split.rows("dev")])
    expected = pairwise_distances(X[split.rows("test")], X[train], metric=metric).min(axis=1)
    row = found[f"nearest_train_distance.{metric}", "test", "all"]
    assert row.value == pytest.approx(expected.mean(), rel=1e-3)
    assert row.low < row.value < row.high
    assert row.n == 30
    chance = found[f"nearest_train_distance.{metric}.matched_random", "test", "all"].value
    assert found[f"nearest_train_distance_ratio.{metric}", "test", "all"].value == pytest.approx(row.value / chance)


def ratio(data, split, X):
    return by_name(unseen.analyse(data, split, X))["nearest_train_distance_ratio.cosine", "test", "all"].value


def test_the_ratio_tells_hard_from_random(data):
    X = points()
    hard = unseen.split(data, "closest", using=X, test=0.2, n_clusters=[5, 9, 14])
    easy = [unseen.split(data, "random", test=0.2, seed=seed) for seed in range(5)]
    assert ratio(data, hard, X) > 2
    assert np.mean([ratio(data, split, X) for split in easy]) == pytest.approx(1, abs=0.4)


@pytest.mark.parametrize(
    "request_", [{"method": "predefined", "by": "part"}, {"method": "attribute", "by": "source", "values": ["mail"]},
                 {"method": ShuffleSplit(1, random_state=0)}]
)  # fmt: skip
def test_a_split_of_somebody_else_has_figures_too(data, request_):
    assert ratio(data, unseen.split(data, **request_), points()) > 0


def test_a_class_that_is_only_in_the_test_part_has_figures_too(tiny):
    data = tiny(ids=list("abcdefgh"), labels=["no"] * 6 + ["yes"] * 2, part=["train"] * 4 + ["test"] * 4)
    X = points(8)
    assert ratio(data, unseen.split(data, "predefined", by="part"), X) > 0


def test_the_figures_do_not_depend_on_the_order_of_rows_in_the_split(data):
    X, order = points(), np.random.default_rng(0).permutation(120)
    split = unseen.split(data, "random", test=30)
    shuffled = data.take(order)
    values = [by_name(unseen.analyse(d, split, x))["nearest_train_distance.cosine", "test", "all"].value
              for d, x in ((data, X), (shuffled, X[order]))]  # fmt: skip
    assert values[0] == pytest.approx(values[1], rel=1e-5)


def test_vectors_and_splits_of_other_data_are_refused(data, tiny):
    split, X = unseen.split(data, "random", test=30), points()
    with pytest.raises(MismatchError, match="belongs to another dataset"):
        unseen.analyse(tiny(), split)
    with pytest.raises(InputError, match="another length"):
        unseen.analyse(data, split, X[:-1])
    shuffled = data.take(np.arange(120)[::-1])
    with pytest.raises(InputError, match="belong to other rows"):
        unseen.analyse(data, split, Embeddings(shuffled.ids, X))
    with pytest.raises(InputError, match="metric must be one of"):
        unseen.analyse(data, split, X, metric="manhattan")


def test_equal_vectors_give_no_ratio(data):
    X = np.ones((120, 3), np.float32)
    rows = by_name(unseen.analyse(data, unseen.split(data, "random", test=30), X))
    assert rows["nearest_train_distance.cosine", "test", "all"].value == pytest.approx(0, abs=1e-6)
    assert rows["nearest_train_distance_ratio.cosine", "test", "all"].value is None
    assert rows["nearest_train_distance_ratio.cosine", "test", "all"].n == 0
