"""Templates: every combination, every group, and balanced draws."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.functional.suite_file import MOST, filled, fillings, placeholders

LISTS = {"DISH": ["soup", "stew", "bread"], "DAY": ["Monday", "Friday"], "NUMBER": list(map(str, range(50)))}
GROUPS = {
    "cooks": {"PLURAL": "cooks", "SINGULAR": "cook"},
    "waiters": {"PLURAL": "waiters", "SINGULAR": "waiter"},
    "guests": {"PLURAL": "guests", "SINGULAR": "guest"},
}


def test_several_lists_give_every_combination() -> None:
    found = list(fillings("[DISH] on [DAY]", LISTS, GROUPS))
    assert [each.text for each in found] == [f"{a} on {b}" for a, b in itertools.product(LISTS["DISH"], LISTS["DAY"])]
    assert found[1].values == {"DISH": "soup", "DAY": "Friday"}
    assert {each.group for each in found} == {None}


def test_a_form_of_groups_gives_a_case_for_each() -> None:
    found = list(fillings("[PLURAL^] like [DISH]; ask any [SINGULAR].", LISTS, GROUPS))
    assert Counter(each.group for each in found) == {"cooks": 3, "waiters": 3, "guests": 3}
    assert found[0].text == "Cooks like soup; ask any cook."
    assert found[1].text == "Waiters like soup; ask any waiter."


def test_a_template_without_placeholders_is_itself() -> None:
    (only,) = fillings("Nothing [here] [x1] to [] fill.", LISTS, GROUPS)
    assert only.text == "Nothing [here] [x1] to [] fill."


def test_a_placeholder_has_one_value_and_values_are_not_filled_again() -> None:
    assert filled("[A] and [A], [B]", {"A": "[B]", "B": "b"}) == "[B] and [B], b"


def test_draws_give_every_group_the_same_values() -> None:
    found = list(fillings("[SINGULAR] [NUMBER] [DISH]", LISTS, GROUPS, at_most=31, seed=1))
    by_group = {name: [tuple(each.values.items()) for each in found if each.group == name] for name in GROUPS}
    assert [len(each) for each in by_group.values()] == [10, 10, 10]
    assert by_group["cooks"] == by_group["waiters"] == by_group["guests"]
    assert len(set(by_group["cooks"])) == 10


def test_draws_follow_the_seed_and_the_template_alone() -> None:
    def drawn(template: str, seed: int) -> list[str]:
        return [each.text for each in fillings(template, LISTS, GROUPS, at_most=12, seed=seed)]

    assert drawn("[NUMBER] [DISH]", 1) == drawn("[NUMBER] [DISH]", 1)
    assert drawn("[NUMBER] [DISH]", 1) != drawn("[NUMBER] [DISH]", 2)
    assert drawn("[NUMBER] [DISH]", 1) != [text.rstrip("!") for text in drawn("[NUMBER] [DISH]!", 1)]


@given(st.integers(1, 200), st.integers(0, 5))
def test_draws_are_among_all_ways_to_fill(at_most: int, seed: int) -> None:
    every = [each.text for each in fillings("[NUMBER] [DAY]", LISTS, {})]
    some = [each.text for each in fillings("[NUMBER] [DAY]", LISTS, {}, at_most=at_most, seed=seed)]
    assert len(some) == min(at_most, 100) == len(set(some))
    assert some == [text for text in every if text in set(some)]


def test_fewer_cases_than_groups_are_refused() -> None:
    with pytest.raises(InputError, match="number of groups, 3"):
        list(fillings("[PLURAL]", LISTS, GROUPS, at_most=2))


def test_an_explosion_is_refused_but_may_be_drawn_from() -> None:
    lists = {name: list(map(str, range(60))) for name in "ABCD"}
    with pytest.raises(InputError, match="12,960,000 cases"):
        next(fillings("[A] [B] [C] [D]", lists, {}))
    assert len(list(fillings("[A] [B] [C] [D]", lists, {}, at_most=20))) == 20
    assert MOST < 60**4


def test_placeholders_are_capitals_in_brackets() -> None:
    assert placeholders("[A] [b] [A^] [A_1] [1A] [ A] [C^^]") == ("A", "A_1")
