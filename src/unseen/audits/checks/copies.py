"""Copied items, as oversampling makes them, on both sides of a split."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.audits.checks.judging import (
    ONE_SIDED,
    Found,
    examples,
    leaking,
    portion,
    shared,
    skipped,
    without_sides,
)
from unseen.audits.oversampling import copies_on_both_sides
from unseen.audits.subject import Subject
from unseen.types import Finding

Counts = npt.NDArray[np.integer]


def copied_items(subject: Subject) -> Found:
    """Copied items on both sides: by the attribute `original`, else equal texts with equal labels."""
    if subject.split is None:
        return skipped("copied_items", "Without a split, copies lie on no side.")
    if without_sides(subject):
        return skipped("copied_items", ONE_SIDED)
    items = _items(subject)
    test, train = (np.bincount(items[rows], minlength=len(items)) for rows in (subject.test, subject.train))
    copies, both = test + train, (test > 0) & (train > 0)
    n, count = int((copies > 1).sum()), int(both.sum())
    if not n:
        return [shared(subject, "copied_items", 0, 0)], [Finding("copied_items", "ok", "No item was copied.")]
    expected = _expected(len(subject.test) / len(subject.used), copies[copies > 1])
    rows = subject.test[both[items[subject.test]]]
    said = (
        f"{portion(count, n, 'items with copies')} lie on both sides; copying them before a random split would put "
        f"{100 * expected:.1f} % there."
    )
    level = leaking(len(rows) / max(1, len(subject.test)))
    advice = "" if level == "ok" else "Copy rows of the training part only, after the split."
    found = [shared(subject, "copied_items", count, n, expected=round(expected, 4))]
    return found, [Finding("copied_items", level, said, count, examples(subject, rows), advice)]


def _expected(share: float, copies: Counts) -> float:
    """Share of the items that chance would put on both sides."""
    numbers, items = np.unique(copies, return_counts=True)
    return sum(copies_on_both_sides(share, int(n)) * int(m) for n, m in zip(numbers, items, strict=True)) / len(copies)


def _items(subject: Subject) -> Counts:
    """The item that each row is a copy of."""
    by_attribute = subject.alike("original")
    if by_attribute is not None:
        return by_attribute.groups()
    texts = subject.alike("exact")
    assert texts is not None
    pairs = texts.stands_for * len(subject.data.label_names) + subject.data.labels
    return np.unique(pairs, return_inverse=True)[1]
