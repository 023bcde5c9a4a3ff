from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from unseen.analysis import correlations
from unseen.evaluation.contrasts import holm
from unseen.types import Measurement


def rows(metric, values, slice="all", **tags):
    return [
        Measurement(metric, value, 9, slice=slice, tags={"split": f"s{place}", **tags})
        for place, value in enumerate(values)
    ]


def one(table, metric="pearson"):
    (row,) = [row for row in table if row.metric == metric]
    return row


numbers = st.lists(
    st.tuples(*[st.floats(-1e6, 1e6).map(lambda each: round(each, 4))] * 2), min_size=4, max_size=30
)  # fmt: skip


@given(numbers)
def test_it_is_what_scipy_gives(pairs):
    x, y = np.array(pairs).T
    assume(min(np.ptp(x) / np.abs(x).max() if x.any() else 0, np.ptp(y) / np.abs(y).max() if y.any() else 0) > 1e-6)
    table = correlations(rows("p", x, part="test"), rows("f1", y))
    pearson, spearman = one(table), one(table, "spearman")
    expected = stats.pearsonr(x, y)
    assert (pearson.value, pearson.tags["p"]) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-6)
    if abs(expected.statistic) < 1 - 1e-9:
        interval = expected.confidence_interval()
        assert (pearson.low, pearson.high) == pytest.approx((interval.low, interval.high), abs=1e-6)
    expected = stats.spearmanr(x, y)
    assert (spearman.value, spearman.tags["p"]) == pytest.approx((expected.statistic, expected.pvalue), abs=1e-6)
    assert pearson.n == spearman.n == len(x)


def test_rows_say_what_goes_with_what():
    properties = rows("length", [1, 2, 4, 3], part="train") + rows("shift", [1, 0, 1, 0.5], "topic=a", part="test")
    table = correlations(properties, rows("f1", [0.1, 0.2, 0.3, 0.5], part="test"))
    assert [(row.metric, row.slice, row.tags["property"], row.tags["part"], row.tags["score"]) for row in table] == [
        ("pearson", "all", "length", "train", "f1"),
        ("spearman", "all", "length", "train", "f1"),
        ("pearson", "topic=a", "shift", "test", "f1"),
        ("spearman", "topic=a", "shift", "test", "f1"),
    ]
    for name in ("pearson", "spearman"):
        p, adjusted = zip(*[(row.tags["p"], row.tags["p.holm"]) for row in table if row.metric == name], strict=True)
        assert list(adjusted) == holm(p)


def test_seeds_become_a_mean_and_other_parts_and_slices_are_left_out():
    scores = rows("f1", [0.1, 0.2, 0.7, 0.4], seed=1) + rows("f1", [0.3, 0.2, 0.5, 0.4], seed=2)
    others = rows("f1", [9, 1, 9, 1], part="independent") + rows("f1", [9, 1, 9, 1], "topic=a")
    others.append(Measurement("f1", 5.0, 9, tags={"seed": "mean"}))
    table = correlations(rows("length", [1, 2, 3, 4]), scores + others)
    assert one(table).value == pytest.approx(stats.pearsonr([1, 2, 3, 4], [0.2, 0.2, 0.6, 0.4]).statistic)


def test_only_splits_that_have_both_count():
    table = correlations(rows("length", [1, None, 3, 4, 6, 9]), rows("f1", [1, 2, 2, float("nan"), 5]))
    assert (one(table).n, one(table).value) == (3, pytest.approx(stats.pearsonr([1, 3, 6], [1, 2, 5]).statistic))


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1, 2], [1, 2], "fewer than 3 splits"),
        ([1, 2, 3], [None, 2, 4], "fewer than 3 splits"),
        ([2, 2, 2], [1, 2, 3], "the property is the same in all splits"),
        ([0, 0, 0], [1, 2, 3], "the property is the same in all splits"),
        ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], "the property is the same in all splits"),
        ([1, 2, 3], [5, 5, 5], "the score is the same in all splits"),
    ],
)
def test_no_value_has_a_reason(x, y, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = correlations(rows("length", x) + rows("other", [4, 1, 3]), rows("f1", y))
    for row in table:
        if row.tags["property"] == "length":
            assert (row.value, row.low, row.tags["reason"]) == (None, None, reason)
            assert not {"p", "p.holm"} & row.tags.keys()


def test_three_splits_have_no_interval_and_four_do():
    assert one(correlations(rows("a", [1, 2, 4]), rows("f1", [1, 3, 2]))).low is None
    assert one(correlations(rows("a", [1, 2, 4, 3]), rows("f1", [1, 3, 2, 2]))).low is not None


def test_a_line_is_certain_and_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        row = one(correlations(rows("a", [1e300, 2e300, 3e300, 4e300]), rows("f1", [4, 3, 2, 1])))
    assert (row.value, row.high) == (pytest.approx(-1), pytest.approx(-1))
    assert row.tags["p"] == pytest.approx(0, abs=1e-6)


def test_nothing_gives_nothing():
    assert correlations([], rows("f1", [1, 2, 3])) == correlations(rows("a", [1, 2, 3]), []) == []


@given(st.lists(st.floats(0, 1), max_size=6))
def test_holm_is_bonferroni_closed_over_every_set(p):
    """A hypothesis is rejected when every set of hypotheses that holds it is (Marcus, Peritz and Gabriel 1976)."""
    places = range(len(p))
    sets = [each for size in range(1, len(p) + 1) for each in combinations(places, size)]
    expected = [max(min(1, len(each) * min(p[i] for i in each)) for each in sets if place in each) for place in places]
    assert holm(p) == pytest.approx(expected)
