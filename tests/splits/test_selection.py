from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from unseen.splits.selection import choose_most, choose_nearest, choose_within


def subsets(counts):
    """Class counts of every choice of units [2^n, classes]."""
    masks = np.array(list(product([0, 1], repeat=len(counts))), dtype=np.int64).reshape(-1, len(counts))
    return masks @ counts


def least_within(counts, quota):
    sums = subsets(counts)
    return int(quota.sum() - sums[(sums <= quota).all(axis=1)].sum(axis=1).max())


def least_off(counts, quota):
    return int(np.abs(subsets(counts) - quota).sum(axis=1).min())


def cases(number, seed, most_units=9):
    """Random small problems; half of the clusters lack some class."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        units, classes = rng.integers(1, most_units + 1), rng.integers(2, 5)
        counts = rng.integers(0, rng.choice([3, 9, 40]), size=(units, classes))
        counts *= rng.random(counts.shape) < rng.choice([0.4, 1.0])
        reachable = counts[rng.random(units) < 0.5].sum(axis=0)
        quota = reachable if rng.random() < 0.3 else rng.integers(0, counts.sum(axis=0) + 2)
        yield counts, np.asarray(quota, dtype=np.int64)


@pytest.mark.parametrize("seed", range(8))
def test_whole_clusters_reach_the_optimum_of_brute_force(seed):
    for counts, quota in cases(150, seed):
        found = choose_within(counts, quota)
        got = counts[found.chosen].sum(axis=0)
        assert (got <= quota).all()
        assert found.missed == quota.sum() - got.sum() == least_within(counts, quota)
        assert found.optimal


@pytest.mark.parametrize(
    ("clusters", "quota", "reached"),
    [
        ([(0, 5), (3, 2)], (3, 7), 10),
        ([(0, 5), (3, 0)], (3, 5), 8),
        ([(5, 0), (0, 5)], (5, 5), 10),
        ([(5, 0, 0), (0, 5, 0), (0, 0, 5), (9, 9, 9)], (5, 5, 5), 15),
    ],
)
def test_clusters_that_lack_a_class_count_in_any_order(clusters, quota, reached):
    for order in permutations(clusters):
        found = choose_within(np.array(order), np.array(quota))
        assert np.array(order)[found.chosen].sum() == reached
        assert found.missed == sum(quota) - reached


def test_only_something_better_is_searched_for_when_asked_to():
    for counts, quota in cases(150, seed=20, most_units=7):
        least = least_within(counts, quota)
        better = choose_within(counts, quota, fewer_than=least + 1)
        assert better.missed == least
        for fewer_than in {0, least // 2, least}:
            none = choose_within(counts, quota, fewer_than=fewer_than)
            assert not none.chosen.any()
            assert none.missed == quota.sum()
            assert fewer_than <= none.missed_at_least <= least


@pytest.mark.parametrize("seed", range(4))
def test_whole_groups_come_as_near_as_brute_force(seed):
    rng = np.random.default_rng(seed)
    for counts, quota in cases(150, 100 + seed):
        found = choose_nearest(counts, quota, rng.permutation(len(counts)))
        off = np.abs(counts[found.chosen].sum(axis=0) - quota).sum()
        assert found.missed == found.missed_at_least == off == least_off(counts, quota)
        assert found.optimal


def test_groups_are_taken_in_order_when_they_fit():
    counts = np.ones((20, 2), dtype=np.int64)
    order = np.random.default_rng(0).permutation(20)
    found = choose_nearest(counts, np.array([6, 6]), order)
    assert set(np.flatnonzero(found.chosen)) == set(order[:6])


def test_few_rows_are_exchanged_when_the_first_groups_do_not_fit():
    counts = np.array([[4, 4], [3, 3], [2, 2], [5, 5], [10, 10]])  # the first three fit; 3 + 2 + 5 or 10 are nearest
    found = choose_nearest(counts, np.array([10, 10]), np.arange(5))
    assert found.missed == 0
    assert np.flatnonzero(found.chosen).tolist() == [1, 2, 3]


def test_of_equal_groups_the_first_in_order_are_taken():
    counts = np.array([[3, 3]] * 10 + [[4, 4]])
    order = np.random.default_rng(3).permutation(11)
    found = choose_nearest(counts, np.array([10, 10]), order)
    threes = [unit for unit in order if unit < 10]
    assert set(np.flatnonzero(found.chosen)) == {10, *threes[:2]}


def random_clusters(units, classes, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.3, 8, size=(units, classes)))
    return counts.astype(np.int64), np.floor(counts.sum(axis=0) * 0.1).astype(np.int64)


def test_many_classes_and_clusters_stop_at_the_limit_with_a_valid_bound():
    counts, quota = random_clusters(500, 77)
    found = choose_within(counts, quota, limit=0.5)
    got = counts[found.chosen].sum(axis=0)
    assert (got <= quota).all()
    assert found.missed == quota.sum() - got.sum() < quota.sum()
    assert 0 <= found.missed_at_least <= found.missed
    again = choose_within(counts, quota, limit=0.5)
    assert (again.chosen == found.chosen).all()
    assert again.missed_at_least == found.missed_at_least


@pytest.mark.parametrize("limit", [1e-9, 1e-4, 1e-2])
def test_without_time_nothing_is_proven(limit):
    counts = np.random.default_rng(0).integers(0, 200, size=(60, 8))
    quota = (counts.sum(axis=0) * 0.1).astype(np.int64)
    for found in (choose_within(counts, quota, limit=limit), choose_nearest(counts, quota, np.arange(60), limit=limit)):
        assert found.missed_at_least <= 60  # better choices are known
        assert not found.optimal


@pytest.mark.parametrize(("groups", "smallest"), [(50_000, 1), (1_000, 10)])  # the second does not fit at first
def test_many_groups_of_zipf_sizes_are_exact(groups, smallest):
    rng = np.random.default_rng(1)
    sizes = smallest - 1 + np.minimum(rng.zipf(1.7, groups), 20_000)
    counts = np.column_stack([some := rng.binomial(sizes, 0.3), sizes - some])
    quota = np.floor(counts.sum(axis=0) * 0.2).astype(np.int64)
    order = rng.permutation(groups)
    found = choose_nearest(counts, quota, order)
    assert found.missed == found.missed_at_least == 0
    assert counts[found.chosen].sum(axis=0).tolist() == quota.tolist()
    assert (choose_nearest(counts, quota, order).chosen == found.chosen).all()


@pytest.mark.parametrize("limit", [1e-9, 1e-4, 0.02])
def test_time_is_accounted_for_whatever_was_found(limit):
    counts = np.random.default_rng(0).integers(0, 200, size=(60, 8))
    spent = choose_within(counts, (counts.sum(axis=0) * 0.1).astype(np.int64), limit=limit).spent
    assert spent >= limit


def test_even_counts_never_hit_an_odd_quota_and_that_is_proven():
    draw = np.random.default_rng(0)
    counts = 2 * np.column_stack([draw.zipf(1.6, 2000).clip(3, 300), draw.poisson(2, 2000)])
    quota = (counts.sum(axis=0) // 10) | 1
    found = choose_nearest(counts, quota, draw.permutation(2000))
    assert (found.missed, found.missed_at_least) == (2, 2)


def best_and_nearest(values, counts, quota, slack):
    """By trying every choice of units: the largest value among those that go least beyond the bounds."""
    masks = np.array(list(product([0, 1], repeat=len(counts))), dtype=np.int64)
    sums = masks @ counts
    beyond = np.abs(sums.sum(axis=1) - quota.sum()) + np.maximum(np.abs(sums - quota) - slack, 0).sum(axis=1)
    beyond += (counts.sum() + quota.sum()) * ((sums == 0) & (quota > 0)).sum(axis=1)
    beyond[(sums >= counts.sum(axis=0)).any(axis=1)] = np.iinfo(np.int64).max
    return beyond.min(), (masks @ values)[beyond == beyond.min()].max()


@pytest.mark.parametrize("seed", range(4))
def test_the_most_valuable_units_are_those_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    for counts, quota in cases(60, seed):
        if (counts.sum(axis=0) < 1).any():
            continue
        values, slack = rng.integers(-500, 500, len(counts)) / 1000, np.minimum(2, quota // 2)
        chosen, proven = choose_most(values, counts, quota, slack)
        assert proven
        assert (counts[chosen].sum(axis=0) < counts.sum(axis=0)).all()
        nearest, most = best_and_nearest(values, counts, quota, slack)
        got = counts[chosen].sum(axis=0)
        beyond = abs(got.sum() - quota.sum()) + np.maximum(np.abs(got - quota) - slack, 0).sum()
        assert beyond + (counts.sum() + quota.sum()) * ((got == 0) & (quota > 0)).sum() == nearest
        assert values[chosen].sum() == pytest.approx(most)
