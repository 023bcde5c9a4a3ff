"""Rates of cases that come in templates."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import beta, binomtest, sem, t

from unseen.functional.rates import difference, rate, swap_p_value

DRAW = np.random.default_rng(7)


def test_a_rate_is_the_mean_of_what_applies() -> None:
    found = rate("pass_rate", np.array([1, 0, np.nan, 1, 1.0]), np.arange(5))
    assert (found.value, found.n) == (0.75, 4)
    nothing = rate("pass_rate", np.array([np.nan]), np.arange(1))
    assert (nothing.value, nothing.n, nothing.low) == (None, 0, None)


def test_intervals_draw_whole_templates() -> None:
    passed = np.repeat(DRAW.random(40) < 0.6, 7).astype(float)  # seven cases of a template pass together
    together = rate("pass_rate", passed, np.repeat(np.arange(40), 7))
    alone = rate("pass_rate", passed, np.arange(280))
    widths = [float(each.high or 0) - float(each.low or 0) for each in (together, alone)]
    ratio = widths[0] / widths[1]
    assert ratio == pytest.approx(7**0.5, rel=0.15)  # a seventh of the independent trials


def test_an_interval_is_exact_for_the_trials_that_templates_are_worth() -> None:
    """Korn and Graubard, with the variance of a ratio from a loop over templates, and SciPy's beta."""
    units = DRAW.integers(12, size=80)
    passed = (DRAW.random(80) < 0.2 + 0.05 * units).astype(float)
    found = rate("pass_rate", passed, units)
    p = passed.mean()
    strays = [(passed[units == each] - p).sum() / 80 for each in range(12)]
    trials = p * (1 - p) / (12 / 11 * np.square(strays).sum()) * (t.ppf(0.975, 79) / t.ppf(0.975, 11)) ** 2
    assert trials < 80
    hits = p * trials
    expected = beta.ppf(0.025, hits, trials - hits + 1), beta.ppf(0.975, hits + 1, trials - hits)
    assert (found.low, found.high) == pytest.approx(expected)


def test_no_template_is_worth_more_than_its_cases() -> None:
    even = rate("pass_rate", np.tile([1.0, 0.0], 20), np.repeat(np.arange(10), 4))  # all templates pass half
    exact = binomtest(20, 40).proportion_ci(0.95, "exact")
    assert (even.low, even.high) == pytest.approx((exact.low, exact.high))


def test_a_difference_has_students_interval_over_templates() -> None:
    units = np.repeat(np.arange(6), 5)
    a, b = (DRAW.random(30) < 0.7).astype(float), (DRAW.random(30) < 0.4).astype(float)
    found = difference("pass_rate", a, b, units)
    means = (a - b).reshape(6, 5).mean(axis=1)
    assert (found.low, found.high) == pytest.approx(t.interval(0.95, 5, means.mean(), sem(means)))


def test_where_all_pass_the_bound_is_the_exact_one_of_the_templates() -> None:
    found = rate("pass_rate", np.ones(140), np.repeat(np.arange(20), 7))
    exact = binomtest(20, 20).proportion_ci(0.95, "exact")
    assert (found.low, found.high) == (pytest.approx(exact.low), 1.0)
    found = rate("pass_rate", np.zeros(140), np.repeat(np.arange(20), 7))
    assert (found.low, found.high) == (0.0, pytest.approx(1 - exact.low))


def test_one_template_has_no_interval_unless_all_is_alike() -> None:
    assert rate("pass_rate", np.array([1.0, 0.0]), np.zeros(2, int)).low is None


def test_swaps_are_exact_with_few_templates() -> None:
    apart = np.array([3.0, -1.0, 2.0, 0.0, 4.0])
    signs = itertools.product([1, -1], repeat=5)
    expected = np.mean([abs(np.dot(each, apart)) >= abs(apart.sum()) for each in signs])
    assert swap_p_value(apart) == pytest.approx(expected)
    assert swap_p_value(np.zeros(3)) == 1.0


def test_drawn_swaps_agree_with_the_sign_test() -> None:
    apart = np.array([1.0] * 16 + [-1.0] * 4)  # equal sizes: swapping is the exact binomial test
    assert swap_p_value(apart) == pytest.approx(binomtest(4, 20).pvalue, abs=0.004)


def test_differences_use_only_cases_that_both_can_be_judged_on() -> None:
    a, b = np.array([1, 1, np.nan, 1.0]), np.array([0, 1, 1, np.nan])
    found = difference("pass_rate", a, b, np.arange(4))
    assert (found.metric, found.value, found.n) == ("difference.pass_rate", 0.5, 2)
    assert difference("pass_rate", a * np.nan, b, np.arange(4)).value is None


def test_differences_that_are_all_alike_have_no_interval() -> None:
    found = difference("pass_rate", np.ones(4), np.zeros(4), np.array([0, 0, 1, 1]))
    assert (found.value, found.low, found.high, found.tags["p"]) == (1.0, None, None, 0.5)


def test_many_units_are_swapped_as_one_by_one() -> None:
    apart = DRAW.choice([-2.0, -1.0, 1.0, 3.0], 60)
    draw = np.random.default_rng(3)
    signs = 1 - 2 * (draw.random((20_000, 60)) < 0.5)
    expected = (np.abs(signs @ apart) >= abs(apart.sum()) - 1e-9).mean()
    assert swap_p_value(apart) == pytest.approx(expected, abs=0.015)


def test_weighted_cases_count_as_if_they_stood_there_more_often() -> None:
    passed, units = (DRAW.random(60) < 0.7).astype(float), DRAW.integers(15, size=60)
    times = DRAW.integers(1, 4, size=60)
    weighted = rate("pass_rate", passed, units, weights=times / 7)
    repeated = rate("pass_rate", np.repeat(passed, times), np.repeat(units, times))
    assert weighted.value == pytest.approx(repeated.value)
    strays = [(times * (passed - weighted.value))[units == unit].sum() / times.sum() for unit in range(15)]
    groups = len(set(units))
    worth = weighted.value * (1 - weighted.value) / (groups / (groups - 1) * np.square(strays).sum())
    trials = min(60, worth * (t.ppf(0.975, 59) / t.ppf(0.975, groups - 1)) ** 2)
    hits = weighted.value * trials
    assert weighted.low == pytest.approx(beta.ppf(0.025, hits, trials - hits + 1))


def test_intervals_of_weighted_rates_hold() -> None:
    draw, holds = np.random.default_rng(3), []
    sizes = np.repeat([4, 40], [10, 10])  # ten templates of four cases and ten of forty, weighted alike
    weights, units = np.repeat(1 / sizes, sizes), np.repeat(np.arange(20), sizes)
    for _ in range(400):
        chance = draw.beta(3, 1.5, 20)  # of each template to be passed
        found = rate("pass_rate", (draw.random(sizes.sum()) < chance[units]).astype(float), units, weights=weights)
        holds.append(found.low <= 2 / 3 <= found.high)
    assert 0.93 <= np.mean(holds) <= 0.995
