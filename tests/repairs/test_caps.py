"""At most so many rows per group and class."""

from __future__ import annotations

from collections import Counter

import numpy as np

from tiny_data import build
from unseen.repairs import Draft
from unseen.repairs.groups import cap_rows
from unseen.types import PARTS

N = 60


def draft(parts: list[str] | None = None) -> Draft:
    """Thirty rows of one author, fifteen of another, fifteen of nobody; two classes by turns."""
    users = ["ann"] * 30 + ["bob"] * 15 + [None] * 15
    data = build(ids=[f"r{row:02}" for row in range(N)], user=users)
    return Draft.of(data) if parts is None else Draft(data, np.array([PARTS.index(part) for part in parts], np.int8))


def left(done: Draft, *parts: str) -> Counter[tuple[str | None, str]]:
    rows = [row for row in done.active if done.parts[row] < 0 or PARTS[done.parts[row]] in parts]
    users, labels = done.data.table["user"].to_pylist(), done.data.table["label"].to_pylist()
    return Counter((users[row], labels[row]) for row in rows)


def test_every_author_and_class_is_capped_and_nobody_is_not() -> None:
    done = cap_rows(draft(), 8, "user", "all")
    assert left(done) == {
        ("ann", "no"): 8, ("ann", "yes"): 8, ("bob", "no"): 8, ("bob", "yes"): 7, (None, "no"): 7, (None, "yes"): 8,
    }  # fmt: skip
    assert len(done.changes) == 14
    assert done.changes[0].reason == "over the cap of 8 rows per user and class"
    assert done.notes == ("15 rows have no user and were not capped",)


def test_only_the_training_part_is_capped() -> None:
    parts = ["test" if row < 20 else "train" for row in range(N)]
    done = cap_rows(draft(parts), 3, "user", "train")
    assert left(done, "test") == {("ann", "no"): 10, ("ann", "yes"): 10}
    assert left(done, "train")["ann", "no"] == left(done, "train")["bob", "yes"] == 3


def test_who_stays_is_drawn_by_the_seed() -> None:
    def gone(seed: int) -> list[str]:
        return [each.id for each in cap_rows(draft(), 5, "user", "all", seed).changes]

    assert gone(1) == gone(1)
    assert gone(1) != gone(2)
    assert np.std([int(name[1:]) for name in gone(1)]) > 5


def test_below_the_cap_nothing_changes() -> None:
    assert cap_rows(draft(), 15, "user", "all").changes == ()
