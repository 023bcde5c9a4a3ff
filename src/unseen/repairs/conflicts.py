"""Texts that stand in the data with different labels."""

from __future__ import annotations

import numpy as np

from unseen.repairs.alike import alike
from unseen.repairs.draft import Draft, Rows

WHY = "the same text has another label elsewhere"


def settle_conflicts(draft: Draft, how: str | None) -> Draft:
    """Drop the rows whose normal form has several labels, or give them the label of most of their rows, or keep them.

    `relabel` drops the rows of a tie: no label has the majority. Near-duplicates may rightly differ in label, so only
    equal normal forms count. Kept conflicts are said in a note.
    """
    rows, group, counts = _in_conflict(draft)
    if not len(rows):
        return draft
    said = f"{len(rows):,} rows in {len(counts):,} groups have the same text with different labels"
    if how in (None, "keep"):
        return draft.noted(f"{said}; they were kept" + ("" if how else ": conflicts drop or relabel settles them"))
    if how == "drop":
        return draft.dropped(rows, WHY).noted(f"{said}; all of them were dropped")
    best = counts.max(axis=1)
    tied = ((counts == best[:, None]).sum(axis=1) > 1)[group]
    winner = counts.argmax(axis=1)[group]
    other = ~tied & (draft.data.labels[rows] != winner)
    done = f"{int(other.sum()):,} were given the label of most, {int(tied.sum()):,} without a majority were dropped"
    reason = "most rows with the same text have this label"
    settled = draft.relabelled(rows[other], winner[other], reason)
    return settled.dropped(rows[tied], f"{WHY}, without a majority").noted(f"{said}; {done}")


def _in_conflict(draft: Draft) -> tuple[Rows, Rows, Rows]:
    """Rows in conflict, the group of each, and rows per group and label."""
    rows, k = draft.active, len(draft.data.label_names)
    codes, labels = alike(draft.data, rows, "normalised"), draft.data.labels[rows].astype(np.intp)
    kinds = np.unique(codes * k + labels) // k  # one entry per group and label that occur together
    groups, labels_of = np.unique(kinds, return_counts=True)
    bad = groups[labels_of > 1]
    chosen = np.isin(codes, bad)
    group = np.searchsorted(bad, codes[chosen])
    counts = np.bincount(group * k + labels[chosen], minlength=len(bad) * k).reshape(len(bad), k)
    return rows[chosen], group, counts
