from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from unseen.analysis import Point, difficulty_curve
from unseen.analysis.difficulty import area_weights
from unseen.errors import InputError


def curve(places, **more):
    points = [
        Point(f"s{n}", distance, scores if isinstance(scores, dict) else {1: scores})
        for n, (distance, scores) in enumerate(places)
    ]
    return difficulty_curve(points, "f1", **more)


scores = st.floats(0, 1)
distances = st.integers(0, 40).map(lambda each: each / 8)
some_places = st.lists(st.tuples(distances, scores), min_size=2, max_size=9).filter(
    lambda some: len({distance for distance, _ in some}) > 1
)


def test_points_come_sorted_with_the_area_by_hand():
    found = curve([(0.6, 0.2), (0.2, 0.8), (0.3, 0.6)])
    assert [point.split for point in found.points] == ["s1", "s2", "s0"]
    assert found.area.metric == "difficulty_area.f1"
    assert found.area.value == pytest.approx((0.1 * 0.7 + 0.3 * 0.4) / 0.4)
    assert (found.area.n, found.area.low, found.area.high) == (3, None, None)


@given(some_places)
def test_the_area_is_numpys_of_the_mean_at_each_distance(places):
    at = sorted({distance for distance, _ in places})
    means = [np.mean([score for distance, score in places if distance == each]) for each in at]
    expected = trapezoid(means, (np.array(at) - at[0]) / (at[-1] - at[0]))
    assert curve(places).area.value == pytest.approx(expected)


@given(some_places, st.floats(0.01, 100), st.floats(-10, 10), st.randoms())
def test_the_unit_of_distance_and_the_order_do_not_matter(places, factor, shift, random):
    moved = [(distance * factor + shift, score) for distance, score in places]
    assume(len({distance for distance, _ in moved}) == len({distance for distance, _ in places}))
    random.shuffle(moved)
    assert curve(moved).area.value == pytest.approx(curve(places).area.value)


@given(some_places, scores)
def test_the_area_lies_between_the_scores_and_a_level_curve_has_its_own(places, level):
    values = [score for _, score in places]
    assert min(values) - 1e-9 <= curve(places).area.value <= max(values) + 1e-9
    assert curve([(distance, level) for distance, _ in places]).area.value == pytest.approx(level)


@given(some_places)
def test_weights_are_shares(places):
    weights = area_weights([distance for distance, _ in places])
    assert weights.sum() == pytest.approx(1)
    assert (weights > 0).all()


@pytest.mark.parametrize("places", [[], [(0.3, 0.5)], [(0.3, 0.5), (0.3, 0.9)]])
def test_one_distance_has_no_area(places):
    area = curve(places).area
    assert (area.value, area.n, area.tags["reason"]) == (None, len(places), "fewer than two different distances")


def test_the_interval_is_that_of_drawn_seeds():
    """Two seeds: one is drawn, so every area is that of the one or of the other."""
    found = curve([(0, {1: 0.9, 2: 0.5}), (1, {1: 0.7, 2: 0.1})]).area
    assert (found.value, found.low, found.high) == pytest.approx((0.55, 0.3, 0.8))


def test_points_of_other_seeds_are_drawn_on_their_own():
    """Independent draws reach mixtures that shared ones cannot, so the middle is drawn too."""
    same = curve([(0, {1: 1.0, 2: 0.0}), (1, {1: 0.0, 2: 1.0})]).area
    other = curve([(0, {1: 1.0, 2: 0.0}), (1, {3: 0.0, 4: 1.0})]).area
    assert (same.low, same.high) == (0.5, 0.5)
    assert (other.low, other.high) == (0.0, 1.0)


def test_one_seed_less_than_there_are_is_drawn_with_replacement():
    values = dict(enumerate([0.1, 0.4, 0.5, 0.9]))
    every = [np.mean(drawn) for drawn in product(values.values(), repeat=3)]
    found = curve([(0, values), (1, values)], draws=20_000).area
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(every, [0.025, 0.975])))


@pytest.mark.parametrize("single", [0, 1])
def test_one_seed_at_a_point_gives_no_interval(single):
    places = [(0.0, {1: 0.9, 2: 0.8}), (1.0, {1: 0.5, 2: 0.3})]
    places[single] = (places[single][0], {1: 0.4})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert curve(places).area.low is None


def test_the_same_seed_gives_the_same_interval():
    table = np.random.default_rng(3).random((2, 12))
    places = [(float(place), dict(enumerate(row.tolist()))) for place, row in enumerate(table)]
    turned = [(distance, dict(reversed(found.items()))) for distance, found in reversed(places)]
    assert curve(places).area == curve(turned).area != curve(places, seed=1).area


@pytest.mark.parametrize(("distance", "found"), [(float("nan"), {1: 0.5}), (0.1, {}), (0.1, {1: float("inf")})])
def test_a_point_without_a_place_is_refused(distance, found):
    with pytest.raises(InputError, match="'odd' has no place"):
        Point("odd", distance, found)
