"""Texts that stand in the data with different labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.repairs.alike import alike
from unseen.repairs.draft import TEST, UNDIVIDED, Draft, Rows

Mask = npt.NDArray[np.bool_]
WHY = "the same text has another label elsewhere"


def settle_conflicts(draft: Draft, how: str | None, stands: str | None = None) -> Draft:
    """Drop the rows whose normal form has several labels, or give them the label of most of their rows, or keep them.

    `relabel` drops the rows of a tie: no label has the majority. With `stands`, train or test, each side votes for
    itself, so that no training row changes a test label; where the sides then still differ, that one stands and the
    rows of the other are dropped. Near-duplicates may rightly differ in label, so only equal normal forms count. Kept
    conflicts are said in a note.
    """
    rows, group = _in_conflict(draft)
    if not len(rows):
        return draft
    said = f"{len(rows):,} rows in {int(group.max()) + 1:,} groups have the same text with different labels"
    if how in (None, "keep"):
        return draft.noted(f"{said}; they were kept" + ("" if how else ": conflicts drop or relabel settles them"))
    if how == "drop":
        return draft.dropped(rows, WHY).noted(f"{said}; all of them were dropped")
    return _relabelled(draft, rows, group, said, stands)


def _relabelled(draft: Draft, rows: Rows, group: Rows, said: str, stands: str | None) -> Draft:
    tested = draft.parts[rows] == TEST
    ballots = group if stands is None else 2 * group + tested
    winner, tied = _voted(ballots, draft.data.labels[rows], len(draft.data.label_names))
    beaten = np.zeros(len(rows), bool) if stands is None else _beaten(group, winner, tied, tested == (stands == "test"))
    other = ~tied & ~beaten & (draft.data.labels[rows] != winner)
    done = [
        f"{_counted(draft, rows, other)} were given the label of most",
        f"{_counted(draft, rows, tied)} without a majority were dropped",
    ]
    if stands is not None:
        done.append(f"{int(beaten.sum()):,} were dropped as the {stands} part has another label for the same text")
    voters = "rows" if stands is None else "rows of its side"
    settled = draft.relabelled(rows[other], winner[other], f"most {voters} with the same text have this label")
    settled = settled.dropped(rows[tied], f"{WHY}, without a majority")
    settled = settled.dropped(rows[beaten], f"the same text has another label in the {stands} part")
    return settled.noted(f"{said}; {', '.join(done)}")


def _voted(ballots: Rows, labels: npt.NDArray[np.integer], k: int) -> tuple[Rows, Mask]:
    """The label of most rows with the same ballot, for each row, and whether another has as many."""
    found, place = np.unique(ballots, return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place * k + labels, minlength=len(found) * k).reshape(len(found), k)
    tied = (counts == counts.max(axis=1)[:, None]).sum(axis=1) > 1
    return counts.argmax(axis=1)[place], tied[place]


def _beaten(group: Rows, winner: Rows, tied: Mask, stands: Mask) -> Mask:
    """Rows of the side that gives way whose label is not the one that the other side has settled on."""
    settled = np.full(int(group.max()) + 1, -1)
    settled[group[stands & ~tied]] = winner[stands & ~tied]
    return ~tied & (settled[group] >= 0) & (settled[group] != winner)


def _counted(draft: Draft, rows: Rows, chosen: Mask) -> str:
    """How many, and on which side where there are sides."""
    parts = draft.parts[rows[chosen]]
    tested = int((parts == TEST).sum())
    if not len(parts) or (draft.parts[rows] == UNDIVIDED).any():
        return f"{len(parts):,}"
    return f"{len(parts):,} ({tested:,} in test, {len(parts) - tested:,} in training)"


def _in_conflict(draft: Draft) -> tuple[Rows, Rows]:
    """Rows in conflict, and the number of the group of each."""
    rows, k = draft.active, len(draft.data.label_names)
    codes, labels = alike(draft.data, rows, "normalised"), draft.data.labels[rows].astype(np.intp)
    kinds = np.unique(codes * k + labels) // k  # one entry per group and label that occur together
    groups, labels_of = np.unique(kinds, return_counts=True)
    bad = groups[labels_of > 1]
    chosen = np.isin(codes, bad)
    return rows[chosen], np.searchsorted(bad, codes[chosen])
