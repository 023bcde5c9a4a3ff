from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.seeding import generator
from unseen.splits import RandomSplit
from unseen.splits.quotas import largest_remainder, nearest_quotas, quotas, rows_asked, within_cap

COUNTS = st.lists(st.integers(2, 500), min_size=2, max_size=8)
NAMES = "abcdefgh"


@given(COUNTS, st.data())
def test_quotas_sum_to_the_rows_and_stay_below_each_class(counts, data):
    rows = data.draw(st.integers(len(counts), sum(counts) - 1))
    try:
        asked = quotas(np.array(counts), rows, NAMES[: len(counts)])
    except InfeasibleError:
        assert any(round(count * rows / sum(counts) + 0.5) >= count for count in counts)
        return
    assert asked.sum() == rows
    assert (asked < counts).all()


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=9), st.integers(0, 10_000))
def test_largest_remainder_against_exact_fractions(counts, total):
    assume(sum(counts) > 0)
    exact = [Fraction(count * total, sum(counts)) for count in counts]
    expected = [int(share) for share in exact]
    for winner in sorted(range(len(counts)), key=lambda c: (-(exact[c] % 1), c))[: total - sum(expected)]:
        expected[winner] += 1
    assert largest_remainder(np.array(counts, float), total).tolist() == expected


@pytest.mark.parametrize(
    ("shares", "total", "expected"),
    [([1, 1, 1], 10, [4, 3, 3]), ([1, 1], 1, [1, 0]), ([0, 1], 5, [0, 5]), ([3, 3, 3, 3], 6, [2, 2, 1, 1])],
)
def test_ties_go_to_the_first(shares, total, expected):
    assert largest_remainder(np.array(shares, float), total).tolist() == expected


def test_mix_as_in_the_data_balanced_or_given():
    counts = np.array([80, 20])
    assert quotas(counts, 10, ["a", "b"]).tolist() == [8, 2]
    assert quotas(counts, 10, ["a", "b"], "balanced").tolist() == [5, 5]
    assert quotas(counts, 10, ["a", "b"], {"a": 0.3, "b": 0.7}).tolist() == [3, 7]
    assert quotas(counts, 10, ["a", "b"], {"b": 1.0}).tolist() == [0, 10]


@given(COUNTS, st.data())
def test_any_given_mix_is_met_within_a_row(counts, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(counts), max_size=len(counts))), float)
    assume(weights.sum() > 0)
    shares = weights / weights.sum()
    rows = data.draw(st.integers(8, 60))
    try:
        asked = quotas(np.array(counts), rows, NAMES[: len(counts)], dict(zip(NAMES, shares, strict=False)))
    except InfeasibleError:
        assert (np.ceil(shares * rows) > np.array(counts) - 1).any()
        return
    assert asked.sum() == rows
    assert (np.abs(asked - shares * rows) < 1).all()


@pytest.mark.parametrize("mix", [{"a": 0.5, "b": 0.6}, {"a": -0.5, "b": 1.5}, {"a": float("nan"), "b": 1.0}, {}])
def test_shares_that_are_none_are_refused(mix):
    with pytest.raises(InputError, match="must sum to one"):
        quotas(np.array([50, 50]), 10, ["a", "b"], mix)


def test_unknown_mixes_get_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'balanced'"):
        quotas(np.array([50, 50]), 10, ["a", "b"], "balancd")
    with pytest.raises(UnknownNameError, match="did you mean 'hate'"):
        quotas(np.array([50, 50]), 10, ["hate", "none"], {"hat": 1.0})


@given(st.integers(2, 10**6), st.floats(0.001, 0.999))
def test_a_share_is_rounded_down(n, share):
    assume(1 <= int(n * share + 1e-9) < n)
    assert rows_asked(share, n) == int(n * share + 1e-9)


@pytest.mark.parametrize(
    ("size", "rows"), [(0.1, 1730), (17, 17), (17.0, 17), (np.int32(5), 5), (np.float32(0.5), 8652)]
)
def test_sizes_as_shares_or_rows(size, rows):
    assert rows_asked(size, 17_305) == rows


def test_a_share_that_is_a_whole_number_of_rows_is_not_rounded_below_it():
    assert rows_asked(0.29, 100) == 29  # 0.29 * 100 is 28.999999999999996


WRONG = [
    0,
    0.0,
    1.0,
    -0.1,
    -3,
    1.5,
    2.7,
    float("nan"),
    float("inf"),
    -float("inf"),
    "x",
    "0.1",
    None,
    True,
    0.001,
    20,
    21,
]


@pytest.mark.parametrize("size", WRONG, ids=repr)
def test_wrong_sizes_are_refused_by_name(size):
    with pytest.raises(InputError, match="test_size"):
        next(RandomSplit(size).split(np.zeros(20), ["a", "b"] * 10))


def test_one_row_cannot_hold_two_classes_but_one():
    with pytest.raises(InfeasibleError, match="1 rows cannot have rows of 2 classes"):
        next(RandomSplit(1).split(np.zeros(20), ["a", "b"] * 10))
    assert len(next(RandomSplit(1).split(np.zeros(20)))[1]) == 1
    assert len(next(RandomSplit(1, mix={"a": 1.0}).split(np.zeros(20), ["a", "b"] * 10))[1]) == 1


def test_more_than_a_class_allows_lists_every_such_class():
    y = ["a"] * 3 + ["b"] * 4 + ["c"] * 93
    with pytest.raises(InfeasibleError) as caught:
        next(RandomSplit(30, mix="balanced").split(np.zeros(100), y))
    assert [problem.partition(":")[0] for problem in sorted(caught.value.problems)] == ["a", "b"]


def test_the_advice_for_a_test_part_that_is_too_small_works():
    y = [f"c{number % 77}" for number in range(77 * 8)]
    with pytest.raises(InfeasibleError, match="61 rows cannot have rows of 77 classes") as caught:
        next(RandomSplit(0.1).split(np.zeros(len(y)), y))
    share = re.search(r"test=(0\.\d+)", caught.value.fix)[1]
    assert "drop" not in caught.value.fix  # all of them are rare
    assert len(next(RandomSplit(float(share)).split(np.zeros(len(y)), y))[1]) >= 77
    with pytest.raises(InfeasibleError, match=r"test=") as caught:
        next(RandomSplit(1).split(np.zeros(42), ["a", "b"] * 20 + ["c"] * 2))
    assert "drop=['rare']" in caught.value.fix


@given(st.lists(st.integers(1, 9), min_size=2, max_size=9).filter(lambda counts: max(counts) > 1), st.integers(1, 60))
def test_what_need_not_have_every_class_leaves_one_of_each(counts, rows):
    quota = nearest_quotas(np.array(counts), rows)
    assert quota.sum() == min(rows, sum(counts) - len(counts))
    assert (quota < np.array(counts)).all()
    assert (quota >= 0).all()


def test_classes_with_one_row_are_refused_and_named():
    with pytest.raises(InfeasibleError, match="'b' has only one row"):
        next(RandomSplit(0.3).split(np.zeros(10), ["a"] * 9 + ["b"]))
    assert len(next(RandomSplit(0.3, stratify=False).split(np.zeros(10), ["a"] * 9 + ["b"]))[1]) == 3


def test_a_mix_without_classes_to_mix_is_refused():
    with pytest.raises(InputError, match="mix has no effect"):
        next(RandomSplit(0.3, mix="balanced", stratify=False).split(np.zeros(10), ["a", "b"] * 5))


@pytest.mark.parametrize("y", [["a", None] * 10, [1.0, float("nan")] * 10])
def test_rows_without_a_label_are_refused(y):
    with pytest.raises(InputError, match="10 rows have no label"):
        next(RandomSplit(0.2).split(np.zeros(20), y))


@pytest.mark.parametrize("most", [1, 3, 50])
def test_each_cell_has_as_many_as_it_may(most: int) -> None:
    cells = np.random.default_rng(0).zipf(1.5, 500) % 40 - 5
    stays = within_cap(cells, most, generator(1, "cap"))
    assert Counter(cells[stays].tolist()) == {cell: min(most, n) for cell, n in Counter(cells.tolist()).items()}


def test_the_first_of_a_shuffle_stay() -> None:
    cells = np.random.default_rng(2).integers(0, 6, 80)
    seen: Counter[int] = Counter()
    expected = np.zeros(80, bool)
    for row in generator(42, "cap").permutation(80):
        expected[row] = seen[cells[row]] < 4
        seen[cells[row]] += 1
    assert np.array_equal(within_cap(cells, 4, generator(42, "cap")), expected)


def test_no_rows_are_no_problem() -> None:
    assert within_cap(np.empty(0, np.intp), 3, generator(0, "cap")).tolist() == []
