"""One row of each group of copies."""

from __future__ import annotations

import numpy as np
import pytest
from leaky_data import are_alike

from tiny_data import build
from unseen.duplicates import Pairs
from unseen.repairs import Draft, repair
from unseen.repairs.copies import drop_copies, stand_ins, ties
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
    found = ties(data, np.arange(8), kind).groups()
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
    assert {each.reason for each in done.changes} == {"nearly the same text as another row"}
    assert {each.like for each in done.changes} == {kept, "a"}


def test_development_rows_are_the_second_choice() -> None:
    done = drop_copies(draft("train dev train train test test train dev"), "exact", "test")
    assert " ".join(PARTS[part] for part in done.parts) == "unused dev train train test test unused dev"


def test_without_parts_the_first_id_stays() -> None:
    data = draft("train " * 8).data
    done = drop_copies(Draft.of(data), "exact", None)
    assert [(each.id, each.before) for each in done.changes] == [("b", ""), ("h", "")]


def test_copies_with_another_label_are_told() -> None:
    data = build(ids=list("abc"), texts=["x", "x", "x"], labels=["no", "yes", "no"])
    done = drop_copies(Draft.of(data), "exact", None)
    assert done.notes == ("1 dropped copy had another label than the row that stayed",)


def chain(links: int) -> list[str]:
    """Texts each of which shares most words with the one before and the one after it, few with those far away."""
    words = [f"token{place:02}" for place in range(80)]
    return [" ".join(words[start : start + 30]) for start in range(0, 2 * links, 2)]


@pytest.mark.parametrize("first", ["test", "train"])
def test_a_chain_loses_only_rows_that_are_like_one_that_stays(first: str) -> None:
    texts = chain(20)
    data = build([f"{row:02}" for row in range(20)], texts)
    parts = np.array([PARTS.index(each) for each in [first, *["train"] * 18, "test"]], np.int8)
    done = drop_copies(Draft(data, parts), "near", "test")
    left = [row for row in range(20) if PARTS[done.parts[row]] != "unused"]
    assert len(left) > 5
    assert not [1 for one in left for other in left if one < other and are_alike(texts[one], texts[other], "near")]
    for each in done.changes:
        assert int(each.like) in left
        assert are_alike(texts[int(each.id)], texts[int(each.like)], "near")
    assert "19" in {f"{row:02}" for row in left}


def brute(n: int, alike: set[tuple[int, int]], order: list[int]) -> list[int]:
    """Rows that stay, one after the other."""
    left: list[int] = []
    for row in order:
        if not any((row, other) in alike or (other, row) in alike for other in left):
            left.append(row)
    return sorted(left)


@pytest.mark.parametrize("seed", range(40))
def test_who_stays_is_what_one_look_after_another_gives(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n = 14
    stands_for = np.array([draw.choice([row, int(draw.integers(row + 1))]) for row in range(n)])
    while (stands_for[stands_for] != stands_for).any():
        stands_for = stands_for[stands_for]
    heads = np.unique(stands_for)
    drawn = [(one, other) for one in heads for other in heads if one < other and draw.random() < 0.3]
    first, second = (np.array([pair[side] for pair in drawn], np.intp) for side in (0, 1))
    pairs = Pairs(stands_for.astype(np.intp), first, second, draw.integers(80, 90, len(drawn)) / 100)
    every = {(a, b) for a in range(n) for b in range(a)
             if stands_for[a] == stands_for[b] or tuple(sorted(stands_for[[a, b]])) in set(drawn)}  # fmt: skip
    order = draw.permutation(n)
    found = stand_ins(pairs, order.astype(np.intp))
    assert np.flatnonzero(found == np.arange(n)).tolist() == brute(n, every, order.tolist())
    for row in np.flatnonzero(found != np.arange(n)):
        assert (max(row, found[row]), min(row, found[row])) in every
        assert found[found[row]] == found[row]


def test_of_several_that_stay_the_most_similar_is_named() -> None:
    pairs = Pairs(np.arange(3), np.array([0, 1]), np.array([2, 2]), np.array([0.8, 0.9]))
    assert stand_ins(pairs, np.arange(3)).tolist() == [0, 1, 1]


@pytest.mark.parametrize(("kind", "left"), [("normalised", 0), ("exact", 2)])
def test_only_conflicts_that_stay_are_said_to_be_kept(kind: str, left: int) -> None:
    texts = ["one text", "one text", "two text", "TWO text", "three", "four", "five", "six"]
    data = build(ids=list("abcdefgh"), texts=texts, labels=["no", "yes"] * 4)
    notes = repair(data, dedupe=kind, test=0.5).split.certificate.notes
    kept = [note for note in notes if "they were kept" in note]
    assert [note.partition(" rows")[0] for note in kept] == ([str(left)] if left else [])
    assert any("had another label than the row that stayed" in note for note in notes)
