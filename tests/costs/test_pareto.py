"""Dominance against its definition, spelt out."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from unseen.costs.pareto import Contender, Side, dominated_by, dominates
from unseen.types import Measurement

SIDES = {"score": Side(higher=True), "seconds": Side(higher=False)}


def contender(name: str, score: float, seconds: float, width: float = 0.0) -> Contender:
    rows = {
        "score": Measurement("f1", score, 9, score - width, score + width),
        "seconds": Measurement("s", seconds, 9, seconds - width, seconds + width),
    }
    return Contender(name, rows)


points = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=7)


@given(points)
def test_exact_numbers_give_the_pareto_front(places: list[tuple[int, int]]) -> None:
    contenders = [contender(str(place), *both) for place, both in enumerate(places)]
    expected = {
        str(place): [
            str(other)
            for other, (score, seconds) in enumerate(places)
            if score >= own[0] and seconds <= own[1] and (score, seconds) != own
        ]
        for place, own in enumerate(places)
    }
    assert dominated_by(contenders, SIDES) == expected
    assert any(not better for better in expected.values())


@given(points, st.integers(0, 3))
def test_wider_intervals_never_dominate_more(places: list[tuple[int, int]], width: int) -> None:
    narrow = [contender(str(place), *both) for place, both in enumerate(places)]
    wide = [contender(str(place), *both, width) for place, both in enumerate(places)]
    for (one, other), (wider, wider_other) in zip(product(narrow, narrow), product(wide, wide), strict=True):
        if dominates(wider, wider_other, SIDES):
            assert dominates(one, other, SIDES)
            apart = [abs(one.rows[side].value - other.rows[side].value) for side in SIDES]
            assert max(apart) > 2 * width


def test_intervals_that_overlap_decide_nothing_and_a_worse_side_forbids_it() -> None:
    assert not dominates(contender("a", 5, 1, width=2), contender("b", 4, 3, width=2), SIDES)
    assert dominates(contender("a", 5, 1, width=0.5), contender("b", 4, 3, width=0.5), SIDES)
    assert not dominates(contender("a", 5, 4), contender("b", 1, 3), SIDES)


def test_costs_within_the_margin_are_equal() -> None:
    sides = {"score": Side(higher=True), "seconds": Side(higher=False, margin=0.25)}
    better, slower = contender("a", 0.9, 1.1), contender("b", 0.8, 1.0)
    assert dominates(better, slower, sides)
    assert not dominates(better, slower, SIDES)
    assert not dominates(contender("c", 0.8, 0.9), slower, sides)
    assert dominates(contender("c", 0.8, 0.5), slower, sides)


def test_without_a_side_in_common_nothing_is_said() -> None:
    one = Contender("a", {"score": Measurement("f1", 1.0, 9)})
    other = Contender("b", {"seconds": Measurement("s", 1.0, 9), "score": Measurement("f1", None, 0)})
    assert dominated_by([one, other], SIDES) == {"a": [], "b": []}
