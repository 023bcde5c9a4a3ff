"""What is asked for: defaults, and everything that cannot be or would have no effect."""

from __future__ import annotations

from typing import Any

import pytest
from leaky_data import given

from tiny_data import build
from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.repairs import repair

pytestmark = pytest.mark.usefixtures("unaudited")

DATA = build(
    ids=[f"r{row}" for row in range(8)], user=list("aabbccdd"), thread=list("abcdefgg"), tags=[["x"], ["y"]] * 4
)
SPLIT = given(DATA, ["train", "test"] * 4)


@pytest.mark.parametrize(
    ("has_split", "recipe", "problems"),
    [
        (True, {}, ["nothing to repair"]),
        (False, {"conflicts": "keep"}, ["nothing to repair"]),
        (False, {"groups": "tags"}, ["'tags' has several values per row"]),
        (False, {"groups": ["user", "user"]}, ["names an attribute twice"]),
        (True, {"cap": 0, "cap_by": "user"}, ["at least 1 row, got 0"]),
        (True, {"cap": 2}, ["cap needs cap_by"]),
        (True, {"cap": 2, "groups": ["user", "thread"]}, ["cap needs cap_by"]),
        (True, {"dedupe": "near", "minimal": "move"}, ["minimal needs groups or together"]),
        (False, {"groups": "user", "minimal": "move"}, ["minimal has no effect without a split"]),
        (True, {"dedupe": "near", "test": 0.2}, ["test has no effect on a split that is kept"]),
        (True, {"groups": "user", "minimal": "drop", "test": 2}, ["test has no effect"]),
        (True, {"groups": "user", "dedupe": "near", "keep": "train"}, ["keep has no effect when the parts are drawn"]),
        (True, {"cap": 2, "cap_by": "user", "keep": "train"}, ["keep has no effect without dedupe or minimal"]),
        (True, {"dedupe": "near", "cap_by": "user", "cap_parts": "all"}, ["cap_by has no", "cap_parts has no"]),
        (False, {"groups": "user", "cap": 2, "cap_parts": "train"}, ["who trains is not known"]),
        (False, {"together": "exact", "dedupe": "near"}, ["together exact has no effect"]),
        (False, {"together": "near", "dedupe": "near"}, ["together near has no effect"]),
        (True, {"cap": -1, "test": 3, "keep": "test"}, ["cap must", "cap needs", "test has", "keep has"]),
    ],
)
def test_all_problems_are_told_at_once(has_split: bool, recipe: dict[str, Any], problems: list[str]) -> None:
    with pytest.raises(InputError) as told:
        repair(DATA, SPLIT if has_split else None, **recipe)
    assert len(told.value.problems) == len(problems)
    for said, wanted in zip(told.value.problems, problems, strict=True):
        assert wanted in said


@pytest.mark.parametrize(
    "recipe",
    [
        {"dedupe": "nearly"}, {"conflicts": "remove"}, {"groups": "users"}, {"cap": 2, "cap_by": "usr"},
        {"groups": "user", "minimal": "yes"}, {"dedupe": "exact", "keep": "dev"}, {"groups": "user", "together": "x"},
    ],
)  # fmt: skip
def test_wrong_names_are_refused_with_the_right_ones(recipe: dict[str, Any]) -> None:
    with pytest.raises(UnknownNameError, match="one of"):
        repair(DATA, SPLIT, **recipe)


def test_a_split_without_a_side_is_refused() -> None:
    with pytest.raises(InputError, match="lacks a side: it has train, independent"):
        repair(DATA, given(DATA, ["train", "independent"] * 4), dedupe="exact")


def test_a_split_of_other_data_is_refused() -> None:
    with pytest.raises(MismatchError):
        repair(DATA, given(build(), ["train", "test"] * 2), dedupe="exact")


@pytest.mark.parametrize(
    ("has_split", "recipe", "said"),
    [
        (True, {"dedupe": "near"}, {"dedupe": "near", "keep": "test"}),
        (False, {"groups": "user", "cap": 1}, {"groups": ["user"], "cap": 1, "cap_by": "user", "cap_parts": "all"}),
        (True, {"cap": 1, "cap_by": "user"}, {"cap": 1, "cap_by": "user", "cap_parts": "train"}),
        (True, {"groups": "user"}, {"groups": ["user"], "test": 0.5}),
    ],
)  # fmt: skip
def test_what_was_left_open_is_written_down(has_split: bool, recipe: dict[str, Any], said: dict[str, Any]) -> None:
    made = repair(DATA, SPLIT if has_split else None, **recipe, **({} if has_split else {"test": 0.25}))
    origin = made.split.origin
    assert origin.step == "repair"
    assert origin.params == said | {"seed": 42} | ({} if has_split else {"test": 0.25})
    assert origin.inputs.keys() == ({"dataset", "split"} if has_split else {"dataset"})
