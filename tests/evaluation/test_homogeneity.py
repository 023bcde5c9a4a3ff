from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2, entropy

from unseen.evaluation.homogeneity import bhapkar, chi_square, kl_divergence, stuart_maxwell, transition_table

statsmodels = pytest.importorskip("statsmodels.stats.contingency_tables")
SQUARE = arrays(np.int64, st.integers(2, 5).map(lambda k: (k, k)), elements=st.integers(1, 40))


@given(SQUARE)
def test_paired_tests_are_those_of_statsmodels(table: np.ndarray) -> None:
    square = statsmodels.SquareTable(table, shift_zeros=False)
    assert stuart_maxwell(table) == pytest.approx(square.homogeneity("stuart_maxwell").pvalue, abs=1e-9)
    assert bhapkar(table) == pytest.approx(square.homogeneity("bhapkar").pvalue, abs=1e-9)
    assert bhapkar(table) <= stuart_maxwell(table) + 1e-12


def test_labels_that_nobody_gives_decide_nothing() -> None:
    table = np.array([[20, 9, 4], [3, 30, 2], [8, 5, 12]])
    wider = np.zeros((5, 5), int)
    wider[np.ix_([0, 2, 4], [0, 2, 4])] = table
    assert stuart_maxwell(wider) == pytest.approx(stuart_maxwell(table))
    assert bhapkar(wider) == pytest.approx(bhapkar(table))
    assert stuart_maxwell(np.diag([3, 4])) == bhapkar(np.diag([3, 4])) == 1.0


def test_labels_that_do_not_mix_are_two_tests() -> None:
    """Two pairs of labels between which nothing moves: McNemar's statistic of each, summed, with two degrees."""
    table = np.zeros((4, 4), int)
    table[0, 1], table[1, 0], table[2, 3], table[3, 2] = 12, 4, 7, 9
    statistic = (12 - 4) ** 2 / 16 + (7 - 9) ** 2 / 16
    assert stuart_maxwell(table) == pytest.approx(chi2.sf(statistic, 2))


def test_bhapkar_where_nothing_comes_back() -> None:
    assert bhapkar([[0, 9], [0, 0]]) == 0 < stuart_maxwell([[0, 9], [0, 0]]) == pytest.approx(chi2.sf(9, 1))


@given(arrays(np.int64, (2, 4), elements=st.integers(1, 500)))
def test_kl_divergence_is_the_relative_entropy(counts: np.ndarray) -> None:
    assert kl_divergence(*counts) == pytest.approx(entropy(*counts), abs=1e-6)


def test_kl_divergence_of_a_label_that_vanishes_is_finite() -> None:
    assert 5 < kl_divergence([10, 10], [20, 0]) < 12
    assert kl_divergence([0, 20], [0, 20]) == pytest.approx(0)


def test_kl_divergence_is_computed_for_many_samples_at_once() -> None:
    first, second = np.random.default_rng(1).integers(1, 50, (2, 6, 3))
    assert kl_divergence(first, second).tolist() == [
        pytest.approx(entropy(a, b)) for a, b in zip(first, second, strict=True)
    ]


def test_transitions_are_counted() -> None:
    before, after = np.random.default_rng(2).integers(0, 3, (2, 50))
    table = transition_table(before, after, 3)
    assert all(table[i, j] == ((before == i) & (after == j)).sum() for i, j in product(range(3), repeat=2))


def test_the_published_test_of_counts() -> None:
    """Yates's correction for two labels, none for more; a label without texts is no column."""
    expected = 200 * (abs(50 * 70 - 50 * 30) - 200 / 2) ** 2 / (100 * 100 * 80 * 120)
    assert chi_square([50, 50], [30, 70]) == pytest.approx(chi2.sf(expected, 1))
    assert chi_square([50, 50, 0], [30, 70, 0]) == chi_square([50, 50], [30, 70])
    assert chi_square([5, 0], [5, 0]) == 1.0
