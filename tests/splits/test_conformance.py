"""What every splitter promises, checked on each of them, as scikit-learn does."""

from __future__ import annotations

import copy
import inspect
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from unseen.errors import InputError
from unseen.roles import Splitter
from unseen.splits import SPLITTERS

N = 120
RNG = np.random.default_rng(7)
VECTORS = (RNG.normal(size=(8, 5))[RNG.integers(0, 8, N)] * 4 + RNG.normal(size=(N, 5))).astype(np.float32)
Y = np.array(["a", "b", "c"] * 40)
GROUPS = np.array([f"user {i % 40 // 2}" for i in range(N)])
TEXTS = np.array([" ".join(RNG.choice(["sun", "rain", "wind", "snow"], RNG.integers(1, 12))) for _ in range(N)])
TIMES = RNG.permutation(N)
SOURCES = np.array(["app", "mail", "web"])[RNG.integers(0, 3, N)]
PARTS = np.where(np.arange(N) % 5 == 0, "test", "train")
FEW = {"n_clusters": [4, 8, 12], "n_init": 2}

CASES = {
    "random": ({"test_size": 0.2}, VECTORS),
    "grouped": ({"test_size": 0.2}, VECTORS),
    "subset-sum": ({"test_size": 0.2} | FEW, VECTORS),
    "closest": ({"test_size": 0.2} | FEW, VECTORS),
    "novel": ({"test_size": 0.2, "n_init": 2}, VECTORS),
    "difficulty": ({"test_size": 0.2, "difficulty": 0.3} | FEW, VECTORS),
    "deployment": ({"test_size": 0.2, "deployment": VECTORS[:30] + 0.5} | FEW, VECTORS),
    "hard-kfold": ({"n_splits": 4, "n_init": 2}, VECTORS),
    "length": ({"test_size": 0.2}, TEXTS),
    "time": ({"test_size": 0.2}, TIMES),
    "attribute": ({}, SOURCES),
    "predefined": ({}, PARTS),
}
OWN_SIZE = {"attribute", "predefined"}
TAKES_GROUPS = set(CASES) - OWN_SIZE
NEEDS_LABELS = {"novel"}
LATENT = {"subset-sum", "closest", "novel", "difficulty", "deployment", "hard-kfold"}
every = pytest.mark.parametrize("name", CASES)
groupable = pytest.mark.parametrize("name", sorted(TAKES_GROUPS))


def make(name, **changes):
    return SPLITTERS.make(name, **CASES[name][0] | changes)


def groups_for(name):
    return GROUPS if name == "grouped" else None


def pairs(name, X=None, y=Y, groups=None, **changes):
    X = CASES[name][1] if X is None else X
    return list(make(name, **changes).split(X, y, groups_for(name) if groups is None else groups))


def held_out(found):
    return [test.tolist() for _, test in found]


def test_every_splitter_is_here():
    assert set(CASES) == set(SPLITTERS)


@every
def test_sides_are_disjoint_sorted_and_cover_the_rows(name):
    for train, test in pairs(name):
        assert len(train)
        assert len(test)
        assert sorted([*train, *test]) == list(range(N))
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()


@every
def test_it_yields_as_many_pairs_as_it_says(name):
    splitter = make(name)
    assert isinstance(splitter, Splitter)
    assert splitter.get_n_splits(CASES[name][1], Y, groups_for(name)) == len(pairs(name))


@every
@pytest.mark.usefixtures("forgetful")
def test_the_same_seed_gives_the_same_split(name):
    splitter = make(name)
    first = held_out(splitter.split(CASES[name][1], Y, groups_for(name)))
    assert held_out(splitter.split(CASES[name][1], Y, groups_for(name))) == first
    assert held_out(pairs(name)) == first


@pytest.mark.parametrize("name", ["random", "grouped", "difficulty"])
def test_another_seed_gives_another_split(name):
    assert len({str(held_out(pairs(name, random_state=seed))) for seed in range(4)}) > 1


@pytest.mark.parametrize("name", sorted(set(CASES) - OWN_SIZE - {"grouped"}))
def test_sizes_and_class_mix_are_exact(name):
    each = N // 3 // 4 if name == "hard-kfold" else N // 15
    for _, test in pairs(name):
        assert Counter(Y[test]) == {"a": each, "b": each, "c": each}


@pytest.mark.parametrize("name", sorted(set(CASES) - OWN_SIZE - {"grouped", "hard-kfold"}))
def test_a_mix_and_a_number_of_rows_are_exact_too(name):
    ((_, test),) = pairs(name, test_size=20, mix={"a": 0.5, "b": 0.3, "c": 0.2})
    assert Counter(Y[test]) == {"a": 10, "b": 6, "c": 4}
    if name not in NEEDS_LABELS:
        ((_, test),) = pairs(name, test_size=31, stratify=False)
        assert len(test) == 31


@every
def test_certificates_describe_the_indices(name):
    splitter = make(name)
    found = list(splitter.split(CASES[name][1], Y, groups_for(name)))
    for (_, test), certificate, clusters in zip(found, splitter.certificates_, splitter.clusters_, strict=True):
        counts = Counter(Y[test])
        assert certificate.got == {label: counts[label] for label in "abc"}
        assert certificate.missed == sum(abs(certificate.asked[label] - counts[label]) for label in "abc")
        assert 0 <= certificate.completed <= len(test)
        assert len(clusters) == N
        assert (clusters < (certificate.n_clusters or 1)).all()
        assert (certificate.n_clusters is None) == (clusters == -1).all()


@pytest.mark.parametrize("name", sorted(set(CASES) - NEEDS_LABELS))
def test_without_labels_rows_are_of_one_class(name):
    splitter = make(name)
    found = list(splitter.split(CASES[name][1], groups=groups_for(name)))
    assert [each.got for each in splitter.certificates_] == [{"all": len(test)} for _, test in found]


@groupable
def test_groups_stay_whole(name):
    splitter = make(name)
    for train, test in splitter.split(CASES[name][1], Y, GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    for certificate in splitter.certificates_:
        assert certificate.groups == {"count": 20, "largest": 6, "on_both_sides": 0}
        assert certificate.missed <= 3


@pytest.mark.parametrize("name", sorted(OWN_SIZE))
def test_groups_that_would_have_no_effect_are_refused(name):
    with pytest.raises(InputError, match="groups have no effect"):
        pairs(name, groups=GROUPS)


@every
def test_it_works_as_cv(name):
    model = LogisticRegression() if CASES[name][1] is VECTORS else DummyClassifier()
    X = CASES[name][1] if CASES[name][1] is VECTORS else CASES[name][1].reshape(-1)
    scores = cross_validate(model, X, Y, cv=make(name), groups=groups_for(name), return_indices=True)
    assert len(scores["test_score"]) == len(pairs(name))
    assert [test.tolist() for test in scores["indices"]["test"]] == held_out(pairs(name))


@pytest.mark.parametrize("name", sorted(LATENT))
def test_it_works_as_cv_on_texts_with_vectors_beside_them(name):
    model = make_pipeline(CountVectorizer(), MultinomialNB())
    scores = cross_validate(model, TEXTS, Y, cv=make(name, using=VECTORS), return_indices=True)
    assert np.isfinite(scores["test_score"]).all()
    assert [test.tolist() for test in scores["indices"]["test"]] == held_out(pairs(name))


@pytest.mark.parametrize("name", sorted(LATENT - {"deployment"}))
def test_texts_alone_are_encoded(name):
    few = [f"{text} word{row % 9}" for row, text in enumerate(TEXTS)]
    assert held_out(pairs(name, few)) == held_out(pairs(name, few, using="tfidf"))
    with pytest.raises(InputError, match="X holds no texts"):
        pairs(name, VECTORS, using="tfidf")


@groupable
def test_groups_are_passed_on_by_cross_validate(name):
    scores = cross_validate(DummyClassifier(), CASES[name][1], Y, cv=make(name), groups=GROUPS, return_indices=True)
    assert [test.tolist() for test in scores["indices"]["test"]] == held_out(pairs(name, groups=GROUPS))


@groupable
def test_groups_are_routed(name):
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            DummyClassifier(), CASES[name][1], Y, cv=make(name), params={"groups": GROUPS}, return_indices=True
        )
    assert [test.tolist() for test in found["indices"]["test"]] == held_out(pairs(name, groups=GROUPS))


@every
def test_the_constructor_only_stores(name):
    parameters = inspect.signature(SPLITTERS.get(name)).parameters
    given = {parameter: object() for parameter in parameters if name != "predefined"}
    made = SPLITTERS.make(name, **given)
    assert {parameter: getattr(made, parameter) for parameter in given} == given
    assert not [attribute for attribute in vars(made) if attribute.endswith("_")]


@every
def test_its_repr_and_first_sentence_say_what_it_is(name):
    splitter = make(name)
    assert repr(splitter).startswith(type(splitter).__name__)
    assert SPLITTERS.summary(name).endswith(".") or ";" in SPLITTERS.summary(name)


@every
def test_inputs_are_not_changed_and_may_be_read_only(name):
    given = {"X": CASES[name][1].copy(), "y": Y.copy(), "groups": None if name in OWN_SIZE else GROUPS.copy()}
    before = copy.deepcopy(given)
    for array in given.values():
        if array is not None:
            array.flags.writeable = False
    list(make(name).split(**given))
    assert all(np.array_equal(given[key], before[key]) for key in given)


@every
def test_lists_frames_and_arrays_are_the_same(name):
    X, groups = CASES[name][1], None if name in OWN_SIZE else GROUPS
    index = np.arange(N)[::-1] + 5
    frame = pd.DataFrame(X, index=index) if X.ndim == 2 else pd.Series(X, index=index)
    expected = held_out(pairs(name, groups=groups))
    series = None if groups is None else pd.Series(groups, index=index)
    assert held_out(pairs(name, X.tolist(), Y.tolist(), None if groups is None else groups.tolist())) == expected
    assert held_out(pairs(name, frame, pd.Series(Y, index=index), series)) == expected
    assert held_out(pairs(name, frame, pd.Series(Y, index=index, dtype="category"), series)) == expected


@pytest.mark.parametrize("name", sorted(LATENT))
def test_numbers_of_any_kind_are_the_same_vectors(name):
    rounded = VECTORS.round(2).astype(np.float32)
    expected = held_out(pairs(name, rounded))
    assert held_out(pairs(name, rounded.astype(np.float64))) == expected
    assert held_out(pairs(name, np.asfortranarray(rounded))) == expected


@every
def test_columns_of_another_length_are_refused(name):
    with pytest.raises(InputError, match="another length"):
        pairs(name, y=Y[:-1])


@groupable
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (GROUPS[:-1], "groups has another length"),
        ([None, *GROUPS[1:]], "1 rows have no group"),
        ([float("nan"), *range(N - 1)], "1 rows have no group"),
        (["one"] * N, "all rows are in one group"),
        (GROUPS.reshape(-1, 2), "one value per row"),
    ],
)
def test_wrong_groups_are_refused(name, groups, message):
    with pytest.raises(InputError, match=message):
        pairs(name, groups=groups)


@pytest.mark.parametrize("name", sorted(LATENT))
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.where(np.arange(N)[:, None] == 3, np.nan, VECTORS), "1 of 120 vectors are not finite"),
        (np.where(np.arange(N)[:, None] == 3, np.inf, VECTORS), "1 of 120 vectors are not finite"),
        (np.where(np.arange(N)[:, None] == 3, 0, VECTORS), "1 of 120 vectors are all zeros"),
        (np.ones((N, 5)), "different vectors|all vectors are the same"),
        (VECTORS[:, 0], "vectors must be a table"),
        (VECTORS[:, :0], "vectors must be a table"),
        (None, "needs vectors"),
    ],
    ids=["nan", "inf", "zeros", "constant", "flat", "no numbers", "none"],
)
def test_wrong_vectors_are_refused(name, X, message):
    with pytest.raises(InputError, match=message):
        list(make(name).split(X, Y))


@pytest.mark.parametrize("name", sorted(set(CASES) - OWN_SIZE - {"length", "time"}))
@pytest.mark.parametrize(
    "seed", [None, "42", 1.5, True, np.random.RandomState(0)], ids=lambda seed: type(seed).__name__
)
def test_a_seed_that_cannot_be_written_down_is_refused(name, seed):
    with pytest.raises(InputError, match="random_state must be a whole number"):
        pairs(name, random_state=seed)
