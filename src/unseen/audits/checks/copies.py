"""Copied items, as oversampling makes them, on both sides of a split."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.audits.checks.judging import Found, examples, leaking, portion, shared, skipped
from unseen.audits.subject import Subject
from unseen.types import Finding

Counts = npt.NDArray[np.integer]


def on_both_sides(share: float, copies: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Probability that an item with so many copies, each put into the test part with `share`, lies on both sides.

    >>> round(float(on_both_sides(0.15, 3)), 2)
    0.38
    """
    n = np.asarray(copies)
    return np.asarray(1 - share**n - (1 - share) ** n)


def copied_items(subject: Subject) -> Found:
    """Copied items on both sides: by the attribute `original`, else equal texts with equal labels."""
    if subject.split is None:
        return skipped("copied_items", "Without a split, copies lie on no side.")
    items = _items(subject)
    test, train = (np.bincount(items[rows], minlength=len(items)) for rows in (subject.test, subject.train))
    copies, both = test + train, (test > 0) & (train > 0)
    n, count = int((copies > 1).sum()), int(both.sum())
    if not n:
        return [shared(subject, "copied_items", 0, 0)], [Finding("copied_items", "ok", "No item was copied.")]
    share = len(subject.test) / len(subject.used)
    expected = float(on_both_sides(share, copies[copies > 1]).mean())
    rows = subject.test[both[items[subject.test]]]
    said = (
        f"{portion(count, n, 'items with copies')} lie on both sides; copying them before a random split would put "
        f"{100 * expected:.1f} % there."
    )
    level = leaking(len(rows) / max(1, len(subject.test)))
    advice = "" if level == "ok" else "Copy rows of the training part only, after the split."
    found = [shared(subject, "copied_items", count, n, expected=round(expected, 4))]
    return found, [Finding("copied_items", level, said, count, examples(subject, rows), advice)]


def _items(subject: Subject) -> Counts:
    """The item that each row is a copy of."""
    by_attribute = subject.alike("original")
    if by_attribute is not None:
        return by_attribute.groups()
    texts = subject.alike("exact")
    assert texts is not None
    pairs = texts.stands_for * len(subject.data.label_names) + subject.data.labels
    return np.unique(pairs, return_inverse=True)[1]
