from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_data import build
from unseen.analysis import shared_tests
from unseen.errors import InputError, MismatchError
from unseen.types import PARTS, Certificate, Split

LABELS = ["no", "no", "yes", "no", "yes", "no", "yes", "no", "no", "yes", "no", "no"]
ROWS = len(LABELS)
DATA = build(ids=[f"{row:02}" for row in range(ROWS)], labels=LABELS)


def split(test, independent=(), data=DATA, name="s"):
    parts = np.zeros(len(data), np.int8)
    parts[list(test)] = PARTS.index("test")
    parts[list(independent)] = PARTS.index("independent")
    clusters = np.full(len(data), -1)
    return Split(name, data.ids, parts, clusters, Certificate({}, {}), data.fingerprint)


def values(rows, metric="test_overlap"):
    return {(row.tags["a"], row.tags["b"]): row.value for row in rows if row.metric == metric}


def brute_force(splits):
    def share(one, other):
        a, b = set(one.rows("test")), set(other.rows("test"))
        return 2 * len(a & b) / (len(a) + len(b))

    found = {}
    for a, b in [*((name, name) for name in splits), *combinations(splits, 2)]:
        pairs = list(combinations(splits[a], 2)) if a == b else list(product(splits[a], splits[b]))
        if pairs:
            found[a, b] = pytest.approx(np.mean([share(*pair) for pair in pairs]))
    return found


def test_shares_within_and_between_names():
    rows = shared_tests(DATA, {"a": [split([0, 1, 2, 4]), split([0, 1, 2, 3])], "b": [split([4, 5, 6, 7])]})
    assert values(rows) == {("a", "a"): 0.75, ("a", "b"): 0.125}
    assert [(row.metric, row.tags["pairs"], row.n) for row in rows] == [
        ("test_overlap", 1, 5),
        ("test_overlap.chance", 1, 5),
        ("test_overlap", 2, 8),
        ("test_overlap.chance", 2, 8),
    ]


def test_unequal_sizes_are_divided_by_their_mean():
    rows = shared_tests(DATA, {"a": [split([0, 1])], "b": [split([0, 1, 2, 3, 4, 5])]})
    assert values(rows) == {("a", "b"): 0.5}


def test_chance_respects_classes_and_what_is_set_aside():
    """No: rows 0 1 3 5 7 8 10 11, the last set aside; yes: rows 2 4 6 9."""
    rows = shared_tests(DATA, {"a": [split([0, 1, 2], [11])], "b": [split([3, 4, 6], [11])]})
    assert values(rows, "test_overlap.chance") == {("a", "b"): pytest.approx((2 * 1 / 7 + 1 * 2 / 4) / 3)}


def test_chance_is_what_random_test_parts_share():
    draw = np.random.default_rng(0)
    labels = DATA.labels

    def drawn(aside):
        left = [np.setdiff1d(np.flatnonzero(labels == label), aside) for label in (0, 1)]
        return np.concatenate(
            [draw.choice(rows, count, replace=False) for rows, count in zip(left, (2, 1), strict=True)]
        )

    shares = [len(np.intersect1d(drawn([11]), drawn([0, 2]))) / 3 for _ in range(20_000)]
    one, other = split(drawn([11]), [11]), split(drawn([0, 2]), [0, 2])
    (chance,) = values(shared_tests(DATA, {"a": [one], "b": [other]}), "test_overlap.chance").values()
    assert chance == pytest.approx(np.mean(shares), abs=4 * np.std(shares) / np.sqrt(len(shares)))


tests_of = st.sets(st.integers(0, ROWS - 1), min_size=1)


@given(st.dictionaries(st.sampled_from("xyz"), st.lists(tests_of, min_size=1, max_size=4), min_size=1))
def test_it_is_what_counting_one_by_one_gives(chosen):
    splits = {name: [split(test) for test in some] for name, some in chosen.items()}
    rows = shared_tests(DATA, splits)
    assert values(rows) == brute_force(splits)
    assert all(0 <= row.value <= 1 + 1e-12 for row in rows)


def test_rows_in_another_order_are_the_same_rows():
    turned = DATA.take(np.arange(ROWS)[::-1])
    other = split([ROWS - 1 - row for row in (0, 1, 2)], data=turned)
    assert values(shared_tests(DATA, {"a": [split([0, 1, 2])], "b": [other]})) == {("a", "b"): 1.0}


def test_splits_of_other_data_are_refused():
    other = build(ids=[f"x{row}" for row in range(ROWS)], labels=LABELS)
    with pytest.raises(MismatchError, match="'odd' belongs to another dataset"):
        shared_tests(DATA, {"a": [split([0])], "b": [split([0], data=other, name="odd")]})


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ({}, "nothing to compare"),
        ({"a": [split([0])], "b": []}, r"nothing to compare(.|\n)*\['b'\]"),
        ({"a": [split([0]), split([], name="bare")]}, "'bare' has no test part"),
    ],
)
def test_nothing_to_compare_is_refused(splits, message):
    with pytest.raises(InputError, match=message):
        shared_tests(DATA, splits)
