"""Attributes whose values are ids of other rows: what is linked is one group."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_data import build
from unseen import split
from unseen.data.groups import NONE, group_codes, holds_links
from unseen.repairs import repair
from unseen.types import Dataset

PAIRS = [1.0, 0.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0, None, None]


def data_with(**attributes: Any) -> Dataset:
    return build([str(row) for row in range(10)], **attributes)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (PAIRS, True),
        (["1.0", "0.0", *[None] * 8], True),
        ([None, "0", "0", None, "3", "3", "3", None, "7", "7"], True),  # originals, which refer to nothing
        (["0", "0", "0", "3", "3", "3", "3", "7", "7", "7"], True),  # … or to themselves
        ([1, 2, 3, 1, 2, 3, 1, 2, 3, 1], False),  # authors by number
        ([1, 1, 2, 2, 3, 3, 4, 4, 5, 5], False),
        (["ann", "bob"] * 5, False),
        ([None] * 10, False),
    ],
)
def test_references_are_told_from_names(values: list[Any], expected: bool) -> None:
    assert holds_links(data_with(of=values), "of") is expected


def test_chains_of_ids_that_are_no_numbers_are_links() -> None:
    data = build(["a1", "b2", "c3", "d4"], reply_to=[None, "a1", "b2", "c3"])
    assert holds_links(data, "reply_to")
    assert len(set(group_codes(data, "reply_to", links=True).tolist())) == 1


@given(st.lists(st.sampled_from([None, "x", *(str(row) for row in range(8))]), min_size=8, max_size=8))
def test_linked_rows_by_force(values: list[str | None]) -> None:
    codes = group_codes(build([str(row) for row in range(8)], of=values), "of", links=True)
    groups = [{row} for row in range(8)]
    for row, value in enumerate(values):
        others = [other for other in range(8) if value is not None and value in (str(other), values[other])]
        joined = set().union(groups[row], *(groups[other] for other in others))
        for each in joined:
            groups[each] = joined
    named = {row for row in range(8) if values[row] is not None or str(row) in values}
    assert {row for row in range(8) if codes[row] != NONE} == named
    for row in named:
        assert {other for other in named if codes[other] == codes[row]} == groups[row]


def test_splits_and_repairs_keep_linked_rows_together() -> None:
    data = data_with(of=PAIRS, part=["test", "train"] * 5)
    published = split(data, "predefined", by="part")
    made = repair(data, published, groups="of")
    assert {each.check: each.level for each in made.before}["partner"] == "fail"
    assert {each.check: each.level for each in made.after}["partner"] == "ok"
    assert made.split.certificate.groups is not None
    assert made.split.certificate.groups["count"] == 6
    for found in (made.split, split(data, "grouped", groups="of", test=0.4)):
        assert all(found.parts[row] == found.parts[row + 1] for row in range(0, 8, 2))
