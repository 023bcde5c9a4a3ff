"""What holds for every repair, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from leaky_data import alike_pairs, crowds, divided, leaky, on_both_sides, outcome, parts_by_id

from unseen.errors import InfeasibleError, InputError
from unseen.repairs import Repaired, repair
from unseen.repairs.recipe import KINDS
from unseen.types import Dataset, Split

pytestmark = pytest.mark.usefixtures("unaudited")

SEEDS = st.integers(0, 10**6)
USERS = st.sampled_from([("user",), ("thread",), ("user", "thread")])
RECIPES = st.fixed_dictionaries(
    {"groups": st.one_of(st.just(()), USERS), "seed": st.integers(0, 9)},
    optional={
        "together": st.sampled_from(KINDS),
        "dedupe": st.sampled_from(KINDS),
        "conflicts": st.sampled_from(["drop", "relabel", "keep"]),
        "cap": st.integers(1, 4),
        "minimal": st.sampled_from(["move", "drop"]),
        "keep": st.sampled_from(["train", "test"]),
    },
)


def sensible(recipe: dict[str, Any], split: Split | None) -> dict[str, Any]:
    """The recipe without what would be refused."""
    recipe = dict(recipe)
    if "together" in recipe and "dedupe" in recipe and KINDS.index(recipe["together"]) <= KINDS.index(recipe["dedupe"]):
        del recipe["together"]
    divides = recipe["groups"] or "together" in recipe
    if split is None or not divides:
        recipe.pop("minimal", None)
    if split is None or (divides and "minimal" not in recipe) or not {"dedupe", "minimal"} & recipe.keys():
        recipe.pop("keep", None)
    if "cap" in recipe:
        recipe["cap_by"] = "user"
    assume(divides or {"dedupe", "cap"} & recipe.keys() or recipe.get("conflicts") in ("drop", "relabel"))
    return recipe


def repaired(data: Dataset, split: Split | None, recipe: dict[str, Any]) -> Repaired:
    """The repair, unless these few rows cannot be divided so."""
    try:
        return repair(data, split, **recipe)
    except InputError as refused:
        assume(not isinstance(refused, InfeasibleError) and "asks for" not in refused.message)
        raise


@settings(max_examples=40)
@given(SEEDS, RECIPES, st.booleans())
def test_what_was_asked_for_holds_on_the_final_rows(seed: int, recipe: dict[str, Any], has_split: bool) -> None:
    data = leaky(seed)
    split = divided(data, seed) if has_split else None
    recipe = sensible(recipe, split)
    made = repaired(data, split, recipe)
    for attribute in recipe["groups"]:
        assert on_both_sides(made.data, made.split, attribute) == set()
    if "dedupe" in recipe:
        assert alike_pairs(made.data, made.split, recipe["dedupe"]) == []
    if "together" in recipe:
        sides = [{part == "test" for part in pair} for pair in alike_pairs(made.data, made.split, recipe["together"])]
        assert all(len(each) == 1 for each in sides)
    if "cap" in recipe:
        parts = {"train"} if made.recipe.cap_parts == "train" else {"train", "dev", "test"}
        assert max(crowds(made.data, made.split, "user", parts), default=0) <= recipe["cap"]
    if made.split.certificate.groups is not None:
        assert made.split.certificate.groups["on_both_sides"] == 0


@settings(max_examples=25)
@given(SEEDS, RECIPES, st.booleans())
def test_no_row_is_lost_and_every_change_is_told(seed: int, recipe: dict[str, Any], has_split: bool) -> None:
    data = leaky(seed)
    split = divided(data, seed) if has_split else None
    made = repaired(data, split, sensible(recipe, split))
    before, (after, labels, _) = ({} if split is None else parts_by_id(split)), outcome(made)
    assert set(after) == set(data.ids.to_pylist())
    moved = {each.id: each.after for each in made.changes if each.action != "relabelled"}
    for name, part in after.items():
        if split is None:
            assert (name in moved) == (part == "unused")
        else:
            assert moved.get(name, before[name]) == part
        if before.get(name) in ("independent", "unused"):
            assert part == before[name]
    told = {each.id: (each.before, each.after) for each in made.changes if each.action == "relabelled"}
    old = dict(zip(data.ids.to_pylist(), data.table["label"].to_pylist(), strict=True))
    assert told == {name: (old[name], label) for name, label in labels.items() if label != old[name]}


@settings(max_examples=25)
@given(SEEDS, RECIPES, st.booleans())
def test_the_order_of_rows_decides_nothing(seed: int, recipe: dict[str, Any], has_split: bool) -> None:
    data = leaky(seed)
    split = divided(data, seed) if has_split else None
    recipe = sensible(recipe, split)
    order = np.random.default_rng(seed).permutation(len(data))
    straight, shuffled = (repaired(each, split, recipe) for each in (data, data.take(order)))
    assert outcome(straight) == outcome(shuffled)
    assert straight.split.origin == shuffled.split.origin


@settings(max_examples=25)
@given(SEEDS, RECIPES, st.booleans())
def test_a_repaired_split_needs_no_repair(seed: int, recipe: dict[str, Any], has_split: bool) -> None:
    data = leaky(seed)
    split = divided(data, seed) if has_split else None
    once = repaired(data, split, sensible(recipe, split))
    twice = repaired(once.data, once.split, sensible(recipe, once.split))
    assert twice.changes == ()
    assert parts_by_id(twice.split) == parts_by_id(once.split)
