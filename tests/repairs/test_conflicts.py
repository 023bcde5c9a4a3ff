"""Texts with several labels."""

from __future__ import annotations

import numpy as np
import pytest
from leaky_data import given

from tiny_data import build
from unseen.repairs import Draft, repair
from unseen.repairs.copies import settle_conflicts
from unseen.types import PARTS

TEXTS = ["So it goes", "so it goes!", "@ann SO it goes", "tea time", "Tea time.", "alone", "@ann", "@bob"]
LABELS = ["no", "yes", "yes", "no", "yes", "no", "no", "yes"]


def draft(parts: str = "train " * 8) -> Draft:
    data = build(ids=list("abcdefgh"), texts=TEXTS, labels=LABELS)
    return Draft(data, np.array([PARTS.index(part) for part in parts.split()], dtype=np.int8))


def parts_of(done: Draft) -> str:
    return " ".join(PARTS[part] for part in done.parts)


@pytest.mark.parametrize(("how", "hint"), [(None, "settles them"), ("keep", "they were kept")])
def test_kept_conflicts_are_told(how: str | None, hint: str) -> None:
    done = settle_conflicts(draft(), how)
    assert (done.changes, parts_of(done)) == ((), parts_of(draft()))
    assert done.notes[0].startswith("5 rows in 2 groups")
    assert hint in done.notes[0]


def test_all_rows_of_a_conflict_are_dropped() -> None:
    done = settle_conflicts(draft(), "drop")
    assert parts_of(done) == "unused unused unused unused unused train train train"
    assert [(each.id, each.action, each.before, each.after) for each in done.changes] == [
        (name, "dropped", "train", "unused") for name in "abcde"
    ]


def test_the_majority_decides_and_ties_are_dropped() -> None:
    done = settle_conflicts(draft(), "relabel")
    assert done.data.table["label"].to_pylist() == ["yes", "yes", "yes", "no", "yes", "no", "no", "yes"]
    assert parts_of(done) == "train train train unused unused train train train"
    first = done.changes[0]
    assert (first.id, first.action, first.before, first.after) == ("a", "relabelled", "no", "yes")
    said = "1 (0 in test, 1 in training) were given the label of most, 2 (0 in test, 2 in training) without a majority"
    assert f"{said} were dropped" in done.notes[0]
    assert done.data.origin.inputs == {"dataset": draft().data.fingerprint}


def test_rows_that_are_not_used_have_no_vote() -> None:
    done = settle_conflicts(draft("train train unused independent train train train train"), "relabel")
    assert parts_of(done) == "unused unused unused independent train train train train"


def test_test_labels_that_training_rows_change_are_told() -> None:
    done = settle_conflicts(draft("test train train train test train train train"), "relabel")
    assert done.changes[0].id == "a"
    assert "1 (1 in test, 0 in training) were given the label of most, 2 (1 in test, 1 in training)" in done.notes[0]


def test_rows_without_parts_have_no_side() -> None:
    data = draft().data
    assert "; 1 were given the label of most, 2 without" in settle_conflicts(Draft.of(data), "relabel").notes[0]


@pytest.mark.parametrize(
    ("stands", "labels", "parts"),
    [
        ("test", "no yes yes no yes no no yes", "test unused unused test unused train train train"),
        ("train", "no yes yes no yes no no yes", "unused train train unused dev train train train"),
    ],
)
def test_each_side_votes_for_itself_and_one_stands(stands: str, labels: str, parts: str) -> None:
    done = settle_conflicts(draft("test train train test dev train train train"), "relabel", stands)
    assert done.data.table["label"].to_pylist() == labels.split()
    assert parts_of(done) == parts
    assert {each.reason for each in done.changes} == {f"the same text has another label in the {stands} part"}
    dropped = parts.count("unused")
    said = f"0 were given the label of most, 0 without a majority were dropped, {dropped} were dropped as the {stands}"
    assert said in done.notes[0]


def test_within_a_side_the_majority_of_that_side_decides() -> None:
    data = build(list("abcdefg"), ["x"] * 7, ["no", "no", "yes", "yes", "yes", "yes", "no"])
    parts = [PARTS.index(part) for part in ["test"] * 3 + ["train"] * 4]
    done = settle_conflicts(Draft(data, np.array(parts, np.int8)), "relabel", "test")
    assert [(each.id, each.action, each.after) for each in done.changes] == [
        ("c", "relabelled", "no"), *((name, "dropped", "unused") for name in "defg"),
    ]  # fmt: skip


def test_a_tie_on_one_side_does_not_silence_the_other() -> None:
    data = build(list("abcde"), ["x"] * 5, ["no", "yes", "yes", "yes", "no"])
    parts = [PARTS.index(part) for part in ["test"] * 2 + ["train"] * 3]
    done = settle_conflicts(Draft(data, np.array(parts, np.int8)), "relabel", "test")
    assert parts_of(done) == "unused unused train train train"
    assert done.data.table["label"].to_pylist()[2:] == ["yes"] * 3


@pytest.mark.usefixtures("unaudited")
@pytest.mark.parametrize(
    ("more", "together"),
    [
        ({}, False),
        ({"groups": "user", "minimal": "move"}, False),
        ({"dedupe": "exact"}, True),
        ({"together": "normalised"}, True),
    ],
)
def test_training_rows_vote_on_test_labels_only_where_copies_end_on_one_side(
    more: dict[str, str], together: bool
) -> None:
    """In test `no`, in training three times `yes`: alone the test row keeps its label, with the others it loses it."""
    texts, labels = ["x", "x", "x", "x!", "p", "q", "r", "s"], ["no", "yes", "yes", "yes", "no", "yes", "no", "yes"]
    data = build(list("abcdefgh"), texts, labels, user=list("ABCDEFGG"))
    parts = given(data, ["test", *["train"] * 3, "test", "test", "train", "train"])
    made = repair(data, parts, conflicts="relabel", **more)  # type: ignore[arg-type]
    relabelled = [(each.id, each.after) for each in made.changes if each.action == "relabelled"]
    dropped = {each.id for each in made.changes if each.after == "unused"}
    assert relabelled == ([("a", "yes")] if together else [])
    if not together:
        assert dropped == {"b", "c", "d"}


def test_without_conflicts_nothing_is_said() -> None:
    whole = draft()
    alone = Draft(whole.data.take(np.arange(5, 8)), whole.parts[5:])
    assert settle_conflicts(alone, "drop") is alone
