"""Texts with several labels."""

from __future__ import annotations

import numpy as np
import pytest

from tiny_data import build
from unseen.repairs import Draft
from unseen.repairs.conflicts import settle_conflicts
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
    assert "1 were given the label of most, 2 without a majority were dropped" in done.notes[0]
    assert done.data.origin.inputs == {"dataset": draft().data.fingerprint}


def test_rows_that_are_not_used_have_no_vote() -> None:
    done = settle_conflicts(draft("train train unused independent train train train train"), "relabel")
    assert parts_of(done) == "unused unused unused independent train train train train"


def test_without_conflicts_nothing_is_said() -> None:
    whole = draft()
    alone = Draft(whole.data.take(np.arange(5, 8)), whole.parts[5:])
    assert settle_conflicts(alone, "drop") is alone
