"""Texts that stand several times: of copies one stays; copies with different labels are settled."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from unseen.audits.subject import Subject
from unseen.duplicates import Pairs
from unseen.repairs.draft import UNDIVIDED, Draft
from unseen.types import DEV, TEST, TRAIN, Dataset
from unseen.types.arrays import Codes, Mask, Rows

PREFERRED = {"test": (TEST, DEV, TRAIN), "train": (TRAIN, DEV, TEST)}
"""Parts in which a copy stays, the first choice first."""
REASONS = {
    "exact": "the same text as another row",
    "normalised": "the same text but for trifles as another row",
    "near": "nearly the same text as another row",
}
WHY = "the same text has another label elsewhere"


def ties(data: Dataset, rows: Rows, kind: str, seed: int = 42) -> Pairs:
    """Which of `rows` are alike, as places in `rows`.

    `exact`: the same text; `normalised`: the same normal form; `near`: near-duplicates. Texts of which normalising
    leaves nothing are alike only when they are the same.
    """
    table = data.table.select(["id", "text", "label"]).take(pa.array(rows))
    subject = Subject(Dataset(data.name, table, data.label_names), seed=seed)
    pairs = subject.alike(kind)
    assert pairs is not None
    return pairs


def drop_copies(draft: Draft, kind: str, keep: str | None, seed: int = 42) -> Draft:
    """The draft without copies: no two rows that stay are alike, and each that goes is like one that stays.

    Rows on the side that `keep` names are looked at first, then by id; None as `keep` is for rows that are drawn anew
    anyway. With `test`, the test part stays as it is but for copies within it, so that scores on it can still be
    compared; the training part loses its copies. Of a chain of near-duplicates only those go that are themselves like
    a row that stays.
    """
    mixed = 0
    while True:  # a search among fewer rows may see pairs that a crowd of copies hid
        rows, labels = draft.active, draft.labels
        order = np.argsort(_turns(draft, keep), kind="stable")
        kept = stand_ins(ties(draft.data, rows, kind, seed), order)
        copies = np.flatnonzero(kept != np.arange(len(rows)))
        if not len(copies):
            break
        mixed += int((labels[copies] != labels[kept[copies]]).sum())
        draft = draft.dropped(rows[copies], REASONS[kind], rows[kept[copies]])
    if not mixed:
        return draft
    copies_had = "1 dropped copy" if mixed == 1 else f"{mixed:,} dropped copies"
    return draft.noted(f"{copies_had} had another label than the row that stayed")


def stand_ins(pairs: Pairs, order: Rows) -> Rows:
    """For each row the one that stays in its place, itself where it stays: taken greedily in this order of preference.

    A row stays unless it is directly like one that does; of several, the most similar one stands in for it.
    """
    rank = np.argsort(order)
    best = np.full(pairs.rows, pairs.rows, np.intp)
    np.minimum.at(best, pairs.stands_for, rank)  # equal rows: the preferred one is looked at for all of them
    early, late = np.sort(np.stack([best[pairs.first], best[pairs.second]]), axis=0)
    in_turn = np.lexsort((early, -pairs.similarity, late))
    stays = list(range(pairs.rows))
    for one, other in zip(early[in_turn].tolist(), late[in_turn].tolist(), strict=True):
        if stays[one] == one and stays[other] == other:
            stays[other] = one
    return order[np.array(stays, np.intp)[best[pairs.stands_for]]]


def _turns(draft: Draft, keep: str | None) -> Rows:
    """When each active row is looked at, by its part: the lower, the sooner."""
    if keep is None:
        return np.zeros(len(draft.active), np.intp)
    rank = np.zeros(max(TRAIN, DEV, TEST) + 1, np.intp)
    rank[list(PREFERRED[keep])] = np.arange(3)
    return rank[draft.parts[draft.active]]


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
    note = f"{len(rows):,} rows in {int(group.max()) + 1:,} groups have the same text with different labels"
    if how in (None, "keep"):
        return draft.noted(f"{note}; they were kept" + ("" if how else ": conflicts drop or relabel settles them"))
    if how == "drop":
        return draft.dropped(rows, WHY).noted(f"{note}; all of them were dropped")
    settled, done = _relabelled(draft, rows, group, stands)
    return settled.noted(f"{note}; {', '.join(done)}")


def _relabelled(draft: Draft, rows: Rows, group: Rows, stands: str | None) -> tuple[Draft, list[str]]:
    """The draft with the label of most, and what was done in words."""
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
    return settled.dropped(rows[beaten], f"the same text has another label in the {stands} part"), done


def _voted(ballots: Rows, labels: Codes, k: int) -> tuple[Rows, Mask]:
    """The label of most rows with the same ballot, for each row, and whether another has as many."""
    distinct, place = np.unique(ballots, return_inverse=True)
    place = place.reshape(-1)
    counts = np.bincount(place * k + labels, minlength=len(distinct) * k).reshape(len(distinct), k)
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
    codes = ties(draft.data, rows, "normalised").groups()
    kinds = np.unique(codes * k + draft.labels) // k  # one entry per group and label that occur together
    groups, labels_of = np.unique(kinds, return_counts=True)
    bad = groups[labels_of > 1]
    chosen = np.isin(codes, bad)
    return rows[chosen], np.searchsorted(bad, codes[chosen])
