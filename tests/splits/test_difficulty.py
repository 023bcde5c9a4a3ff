from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InputError
from unseen.splits import ClosestSplit, DifficultySplit, RandomSplit
from unseen.splits.neighbours import nearest_distances
from unseen.types.numbers import number

KS = [4, 8, 12]


def distance(X, pair):
    return nearest_distances(X[pair[1]], X[pair[0]]).mean()


def family(X, y, groups=None):
    dial = np.linspace(0, 1, 11)
    return [
        next(DifficultySplit(0.2, difficulty=float(at), n_clusters=KS, n_init=3).split(X, y, groups)) for at in dial
    ]


@pytest.mark.parametrize("seed", range(3))
def test_distance_rises_with_difficulty_and_ends_at_closest(blobs, seed):
    X, y = blobs(250, 5, seed=seed, spread=2.0)
    found = family(X, y)
    distances = [distance(X, pair) for pair in found]
    assert distances == sorted(distances)
    assert len(set(distances)) > 3
    hardest = next(ClosestSplit(0.2, n_clusters=KS, n_init=3).split(X, y))
    assert set(found[-1][1]) == set(hardest[1])
    assert distances[-1] == pytest.approx(distance(X, hardest))


def test_nothing_is_like_random(blobs):
    X, y = blobs(400, 5, seed=4)
    easiest = next(DifficultySplit(0.2, difficulty=0, n_clusters=KS).split(X, y))
    chance = [distance(X, next(RandomSplit(0.2, random_state=seed).split(X, y))) for seed in range(20)]
    assert min(chance) * 0.95 <= distance(X, easiest) <= max(chance) * 1.05


def test_the_curve_is_what_was_measured(blobs):
    X, y = blobs(250, 5, seed=1)
    splitter = DifficultySplit(0.2, difficulty=0.5, n_clusters=KS)
    pair = next(splitter.split(X, y))
    assert splitter.curve_.shape == (21, 2)
    assert splitter.curve_[:, 0].tolist() == np.linspace(0, 1, 21).tolist()
    assert np.abs(splitter.curve_[:, 1] - distance(X, pair)).min() < 1e-6
    (note,) = splitter.certificates_[0].notes
    assert f"nearest training row {number(distance(X, pair), 4)};" in note


def test_one_is_closest_even_where_an_easier_part_is_farther(blobs):
    X, y = blobs(120, 4, centres=1, classes=2, seed=11)
    splitter = DifficultySplit(0.2, difficulty=1, n_clusters=KS)
    _, test = next(splitter.split(X, y))
    assert splitter.curve_[0, 1] < splitter.curve_[-1, 1] < splitter.curve_[:, 1].max()
    assert set(test) == set(next(ClosestSplit(0.2, n_clusters=KS).split(X, y))[1])


def test_groups_stay_whole_at_every_difficulty(blobs):
    X, y = blobs(200, 4, seed=2)
    users = np.random.default_rng(0).integers(0, 60, 200)
    for train, test in family(X, y, users)[::3]:
        assert not set(users[train]) & set(users[test])
        assert abs(len(test) - 40) <= 2


@pytest.mark.parametrize("wrong", [-0.1, 1.1, float("nan"), "hard", None])
def test_wrong_difficulties_are_refused(blobs, wrong):
    X, y = blobs(100)
    with pytest.raises(InputError, match="difficulty must be from 0"):
        next(DifficultySplit(0.2, difficulty=wrong).split(X, y))


def test_where_the_region_is_nearer_than_chance_every_difficulty_is_random(blobs):
    X, y = blobs(120, 4, centres=1, classes=2, seed=3)
    found = [next(DifficultySplit(0.2, difficulty=at, n_clusters=KS).split(X, y)) for at in (0, 0.5, 1)]
    assert distance(X, found[0]) > distance(X, next(ClosestSplit(0.2, n_clusters=KS).split(X, y)))
    assert len({tuple(test) for _, test in found}) == 1
