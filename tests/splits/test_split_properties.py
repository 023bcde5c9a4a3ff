"""Promises that hold for any data: the order of rows, names of labels, sizes, whole groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.splits import SPLITTERS, ClosestSplit, DifficultySplit, HardKFold, SubsetSumSplit

SEEDS = st.integers(0, 10**6)
FEW = {"n_clusters": [3, 5, 8, 13], "n_init": 3}
few_examples = settings(max_examples=8)


def points(rng, n=90, d=4):
    middles = rng.normal(size=(6, d)) * 3
    return (middles[rng.integers(0, 6, n)] + rng.normal(size=(n, d))).astype(np.float32)


def classes(rng, n=90, k=3):
    return np.concatenate([np.repeat(np.arange(k), 5), rng.integers(0, k, n - 5 * k)])


def held_out(splitter, X, y, groups=None):
    return [frozenset(test.tolist()) for _, test in splitter.split(X, y, groups)]


METHODS = {
    "random": {},
    "grouped": {"groups": "user"},
    "subset-sum": FEW,
    "closest": FEW,
    "novel": FEW,
    "difficulty": FEW | {"difficulty": 0.4},
    "deployment": FEW,
    "hard-kfold": {"n_splits": 3},
    "length": {},
    "time": {"by": "day"},
    "attribute": {"by": "source"},
    "predefined": {"by": "part"},
}


def parts_by_id(data, method, vectors, **request):
    reads = SPLITTERS.get(method).reads == "vectors"
    found = unseen.folds(data, method, **{"using": vectors} if reads else {}, **METHODS[method] | request)
    return [dict(zip(split.ids.to_pylist(), split.parts.tolist(), strict=True)) for split in found]


def dataset(tiny, rng, n=90):
    return tiny(
        ids=[f"row-{row}" for row in rng.permutation(n)],
        texts=[" ".join(["word"] * length) for length in rng.integers(1, 9, n)],
        labels=[("no", "yes", "so")[c] for c in classes(rng, n)],
        label_names=("no", "yes", "so"),
        user=[f"user {u}" for u in rng.integers(0, 40, n)],
        day=rng.integers(0, 1000, n).tolist(),
        source=[("app", "mail")[s] for s in rng.integers(0, 2, n)],
        part=[("train", "test")[int(s < 0.2)] for s in rng.random(n)],
    )


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=4)
@given(SEEDS)
def test_the_order_of_a_dataset_decides_nothing(tiny, method, seed):
    rng = np.random.default_rng(seed)
    data, vectors = dataset(tiny, rng), points(rng)
    order = rng.permutation(len(data))
    request = {"deployment": vectors[:20] + 0.3} if method == "deployment" else {}
    if method not in ("attribute", "predefined", "hard-kfold"):
        request |= {"dev": 0.1, "independent": 0.1, "test": 0.2}
    straight = parts_by_id(data, method, vectors, **request)
    assert parts_by_id(data.take(order), method, vectors[order], **request) == straight


@pytest.mark.parametrize(
    "splitter", [ClosestSplit(0.2, **FEW), SubsetSumSplit(0.2, **FEW), DifficultySplit(0.2, **FEW)]
)
@few_examples
@given(SEEDS, st.booleans())
def test_the_order_of_arrays_decides_nothing(splitter, seed, grouped):
    rng = np.random.default_rng(seed)
    X, y = points(rng), classes(rng)
    groups = rng.integers(0, 45, len(X)) if grouped else None
    order = rng.permutation(len(X))
    (straight,) = held_out(splitter, X, y, groups)
    curve = getattr(splitter, "curve_", 0)
    (shuffled,) = held_out(splitter, X[order], y[order], None if groups is None else groups[order])
    assert {int(order[row]) for row in shuffled} == straight
    assert np.allclose(getattr(splitter, "curve_", 0), curve, atol=1e-5)


NAMED = [name for name in METHODS if name not in ("attribute", "predefined", "time", "length", "deployment")]


@pytest.mark.parametrize("method", NAMED)
@settings(max_examples=6)
@given(SEEDS)
def test_names_of_labels_decide_nothing(method, seed):
    rng = np.random.default_rng(seed)
    X, y = points(rng), classes(rng)
    renamed = np.array(rng.permutation(["zebra", "ant", "mole"]))[y]
    knobs = {key: value for key, value in METHODS[method].items() if key != "groups"}
    splitter = SPLITTERS.make(method, **knobs | ({} if method == "hard-kfold" else {"test_size": 0.2}))
    groups = np.arange(len(X)) // 2 if method == "grouped" else None
    assert held_out(splitter, X, renamed, groups) == held_out(splitter, X, y, groups)


@pytest.mark.parametrize("method", ["random", "subset-sum", "closest", "difficulty"])
@few_examples
@given(SEEDS, st.integers(2, 8), st.floats(0.15, 0.5))
def test_quotas_are_met_for_any_number_of_classes(method, seed, k, share):
    rng = np.random.default_rng(seed)
    X, y = points(rng, 160), classes(rng, 160, k)
    splitter = SPLITTERS.make(
        method, test_size=share, **METHODS[method] | ({"n_clusters": [20, 40]} if method != "random" else {})
    )
    (test,) = held_out(splitter, X, y)
    exact = np.bincount(y) * int(160 * share + 1e-9) / 160
    assert len(test) == int(160 * share + 1e-9)
    assert (np.abs(np.bincount(y[list(test)], minlength=k) - exact) < 1).all()


@few_examples
@given(SEEDS, st.integers(2, 8), st.integers(2, 6))
def test_folds_are_even_for_any_number_of_classes(seed, k, n_splits):
    rng = np.random.default_rng(seed)
    X, y = points(rng, 101), classes(rng, 101, k)
    tests = held_out(HardKFold(n_splits, n_init=2), X, y)
    assert sorted(row for test in tests for row in test) == list(range(101))
    counts = np.array([np.bincount(y[list(test)], minlength=k) for test in tests])
    assert (np.ptp(counts, axis=0) <= 1).all()
    assert np.ptp(counts.sum(axis=1)) <= 1


@pytest.mark.parametrize("method", ["random", "grouped", "subset-sum", "closest", "novel", "difficulty"])
@settings(max_examples=6)
@given(SEEDS)
def test_groups_are_whole_in_every_part(tiny, method, seed):
    rng = np.random.default_rng(seed)
    data, vectors = dataset(tiny, rng, 150), points(rng, 150)
    request = {"groups": "user", "test": 0.2, "dev": 0.15, "independent": 0.15}
    (parts,) = parts_by_id(data, method, vectors, **request)
    part_of = {}
    for row, user in zip(data.ids.to_pylist(), data.attribute("user").to_pylist(), strict=True):
        assert part_of.setdefault(user, parts[row]) == parts[row]
    assert set(parts.values()) == {0, 1, 2, 3}


@settings(max_examples=20)
@given(SEEDS, st.integers(3, 20), st.integers(3, 20), st.integers(3, 20))
def test_sizes_of_all_parts_are_exact(tiny, seed, test, dev, independent):
    data = dataset(tiny, np.random.default_rng(seed))
    split = unseen.split(data, "random", test=test, dev=dev, independent=independent, seed=seed)
    assert split.sizes == {"train": 90 - test - dev - independent, "dev": dev, "test": test, "independent": independent}
    shares = np.array(list(data.label_counts.values())) / 90
    for part, size in split.sizes.items():
        counts = np.array(list(data.take(split.rows(part)).label_counts.values()))
        assert (np.abs(counts - shares * size) < 3).all()


def test_shares_of_dev_and_independent_are_of_all_rows_and_that_of_test_of_the_rest(tiny):
    data = dataset(tiny, np.random.default_rng(0), 200)
    split = unseen.split(data, "random", test=0.1, dev=0.1, independent=0.1)
    assert split.sizes == {"train": 142, "dev": 20, "test": 18, "independent": 20}


def test_what_is_set_aside_does_not_depend_on_the_method(tiny):
    rng = np.random.default_rng(0)
    data, vectors = dataset(tiny, rng), points(rng)
    aside = [
        {row for row, part in parts_by_id(data, method, vectors, independent=0.2)[0].items() if part == 3}
        for method in ("random", "closest", "hard-kfold")
    ]
    assert aside[0] == aside[1] == aside[2]
