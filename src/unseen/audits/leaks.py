"""Test rows that the training part gives away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.audits.subject import Subject
from unseen.duplicates.pairs import Floats, Rows


@dataclass(frozen=True, eq=False)
class Leak:
    """One kind of tie between the test part and the rows a model learns from."""

    kind: str
    test: Rows
    """Test rows that are tied to a training or development row."""
    train: Rows
    """Training and development rows that are tied to a test row."""
    partner: Rows
    """For each of `test`, the row it is most like."""
    similarity: Floats

    def __len__(self) -> int:
        return len(self.test)


def leak(subject: Subject, kind: str) -> Leak | None:
    """What leaks by one kind of likeness or grouping; None without a split, an attribute or vectors to tell."""
    pairs = None if subject.split is None else subject.alike(kind)
    if pairs is None:
        return None
    test, train = subject.mask(subject.test), subject.mask(subject.train)
    rows, partner, similarity = pairs.across(test, train)
    return Leak(kind, rows, pairs.across(train, test)[0], partner, similarity)


def contradicted(subject: Subject, kind: str) -> Rows:
    """Test rows that are like a training or development row with another label; without a split, like any other row."""
    pairs = subject.alike(kind)
    if pairs is None:
        return np.empty(0, np.intp)
    ours = subject.mask(subject.used if subject.split is None else subject.test)
    theirs, labels = subject.mask(subject.train), subject.data.labels
    found = [pairs.across(ours & (labels == one), theirs & (labels != one))[0] for one in np.unique(labels)]
    return np.sort(np.concatenate([np.empty(0, np.intp), *found]))
