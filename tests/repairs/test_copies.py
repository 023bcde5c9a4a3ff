"""One row of each group of copies."""

from __future__ import annotations

import numpy as np
import pytest

from tiny_data import build
from unseen.repairs import Draft
from unseen.repairs.alike import alike, joined, values
from unseen.repairs.copies import drop_copies
from unseen.repairs.sides import undivided
from unseen.types import PARTS

LONG = "the quick brown fox jumps over the lazy dog and runs on to the river"
TEXTS = [LONG, LONG, f"@ann {LONG.upper()}!", f"{LONG}s", "something else", "@ann", "@bob", "@bob"]


def draft(parts: str) -> Draft:
    data = build(ids=list("hgfedcba"), texts=TEXTS)
    return Draft(data, np.array([PARTS.index(part) for part in parts.split()], dtype=np.int8))


@pytest.mark.parametrize(
    ("kind", "groups"),
    [("exact", [0, 0, 1, 2, 3, 4, 5, 5]), ("normalised", [0, 0, 0, 1, 2, 3, 4, 4]), ("near", [0, 0, 0, 0, 1, 2, 3, 3])],
)
def test_each_kind_includes_the_narrower_one_and_empty_forms_are_alone(kind: str, groups: list[int]) -> None:
    data = draft("train " * 8).data
    found = alike(data, np.arange(8), kind)
    assert np.array_equal(found[:, None] == found, np.array(groups)[:, None] == np.array(groups))


@pytest.mark.parametrize(
    ("keep", "left"),
    [
        ("test", "unused unused test unused train train unused test"),
        ("train", "unused train unused unused train train unused test"),
    ],
)
def test_one_row_stays_on_the_side_that_is_kept(keep: str, left: str) -> None:
    done = drop_copies(draft("train train test dev train train test test"), "near", keep)
    assert " ".join(PARTS[part] for part in done.parts) == left
    kept = "f" if keep == "test" else "g"
    assert {each.reason for each in done.changes} == {f"nearly the same text as {name}" for name in (kept, "a")}


def test_development_rows_are_the_second_choice() -> None:
    done = drop_copies(draft("train dev train train test test train dev"), "exact", "test")
    assert " ".join(PARTS[part] for part in done.parts) == "unused dev train train test test unused dev"


def test_without_parts_the_first_id_stays() -> None:
    data = draft("train " * 8).data
    done = drop_copies(Draft(data, undivided(8)), "exact", None)
    assert [(each.id, each.before) for each in done.changes] == [("b", ""), ("h", "")]


def test_copies_with_another_label_are_told() -> None:
    data = build(ids=list("abc"), texts=["x", "x", "x"], labels=["no", "yes", "no"])
    done = drop_copies(Draft(data, undivided(3)), "exact", None)
    assert done.notes == ("1 copies that were dropped had another label than the row that stayed",)


def test_rows_without_a_value_are_alone() -> None:
    data = build(ids=list("abcdef"), user=["x", None, "", "x", None, "y"])
    codes, missing = values(data, np.array([0, 1, 2, 3, 4, 5]), "user")
    assert missing == 3
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 5


def test_numbers_group_rows_as_well() -> None:
    data = build(ids=list("abcd"), user=[1.5, float("nan"), 1.5, float("nan")])
    codes, missing = values(data, np.arange(4), "user")
    assert (missing, codes[0] == codes[2], codes[1] == codes[3]) == (2, True, False)


def test_groupings_are_joined_by_way_of_others() -> None:
    found = joined([np.array([0, 0, 1, 2, 3, 4]), np.array([9, 8, 8, 7, 6, 7])])
    assert np.array_equal(found[:, None] == found, np.array([0, 0, 0, 1, 2, 1])[:, None] == [0, 0, 0, 1, 2, 1])
