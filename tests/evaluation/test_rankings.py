"""Ranks and their statistics, beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from unseen.errors import InputError
from unseen.evaluation.rankings import (
    agreement,
    average_ranks,
    critical_difference,
    error_reduction,
    friedman,
    not_apart,
    published_gain,
    ranks,
    relative_gain,
)


def test_ranks_are_those_of_scipy_line_by_line_and_turn_with_the_direction() -> None:
    scores = np.random.default_rng(1).integers(0, 5, size=(7, 4)) / 10
    for line, row in zip(scores, ranks(scores), strict=True):
        assert np.array_equal(row, stats.rankdata(-line))
    assert np.array_equal(ranks(scores, higher_is_better=False), ranks(-scores))
    with pytest.raises(InputError, match="every model on every dataset"):
        ranks(np.array([[0.1, np.nan]]))


def test_the_f_form_of_friedmans_test_follows_from_his_chi_square() -> None:
    scores = np.random.default_rng(2).random((9, 5))
    chi_square = stats.friedmanchisquare(*scores.T).statistic
    statistic = 8 * chi_square / (9 * 4 - chi_square)
    assert friedman(ranks(scores)) == pytest.approx(stats.f.sf(statistic, 4, 32))
    assert friedman(np.tile([1.0, 2.0, 3.0], (6, 1))) == 0.0
    assert friedman(np.array([[1.0, 2.0]])) is None


def test_published_critical_differences() -> None:
    assert critical_difference(5, 30) == pytest.approx(1.113, abs=1e-3)
    assert critical_difference(2, 10) == pytest.approx(1.96 * (2 * 3 / 60) ** 0.5, abs=1e-3)


def test_models_that_are_not_apart_are_joined_in_the_largest_groups_only() -> None:
    assert not_apart([1.0, 1.5, 2.0, 4.0], 1.0) == [(0, 1, 2)]
    assert not_apart([1.0, 2.0, 3.0], 0.5) == []


def test_an_average_rank_has_an_interval_over_datasets_within_first_and_last() -> None:
    ranked = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    first = average_ranks(ranked)[0]
    assert first.mean == 1.25
    assert first.low == 1.0
    assert first.high == pytest.approx(stats.t.interval(0.95, 3, 1.25, 0.5 / 2)[1])
    assert average_ranks(ranked[:1])[0].low is None


def test_intervals_of_average_ranks_hold() -> None:
    draw, held, trials = np.random.default_rng(3), 0, 400
    strength = np.array([0.3, 0.2, 0.0, 0.0])
    population = ranks(strength + draw.normal(size=(200_000, 4)))
    for _ in range(trials):
        means = average_ranks(ranks(strength + draw.normal(size=(7, 4))))
        held += sum(low <= true <= high for (_, _, low, high), true in zip(means, population.mean(axis=0), strict=True))
    assert 0.93 <= held / (4 * trials) <= 0.98


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7))
def test_tau_is_scipys_and_flips_are_the_discordant_pairs(pairs: list[tuple[int, int]]) -> None:
    first, second = ([float(pair[side]) for pair in pairs] for side in (0, 1))
    made = agreement(first, second)
    expected = stats.kendalltau(first, second).statistic
    assert (made.tau is None) if np.isnan(expected) else made.tau == pytest.approx(expected)
    for better, worse in made.flips:
        assert first[better] > first[worse]
        assert second[better] < second[worse]
    discordant = sum((a - c) * (b - d) < 0 for i, (a, b) in enumerate(pairs) for c, d in pairs[i + 1 :])
    assert len(made.flips) == discordant


@pytest.mark.parametrize(
    ("reference", "new", "printed", "of_error"),
    [(25.72, 30.28, 18.45, 6.14), (78.55, 82.89, 5.60, 20.23), (86.21, 89.38, 3.72, 22.99)],
)
def test_the_published_gain_is_nearly_the_relative_one_and_not_the_share_of_the_error(
    reference: float, new: float, printed: float, of_error: float
) -> None:
    scores = np.array(new / 100), np.array(reference / 100)
    assert 100 * published_gain(*scores) == pytest.approx(printed, abs=0.006)
    assert 100 * error_reduction(*scores) == pytest.approx(of_error, abs=0.006)
    assert published_gain(*scores) > relative_gain(*scores) > 0
    assert np.isnan(error_reduction(np.array(1.0), np.array(1.0)))
