"""Copies: of texts that are equal or nearly equal, one stays."""

from __future__ import annotations

import numpy as np

from unseen.duplicates import Pairs
from unseen.repairs.alike import ties
from unseen.repairs.draft import DEV, TEST, TRAIN, UNDIVIDED, Draft, Rows

PREFERRED = {"test": (TEST, DEV, TRAIN), "train": (TRAIN, DEV, TEST), None: (UNDIVIDED,)}
"""Parts in which a copy stays, the first choice first."""
SAID = {
    "exact": "the same text as another row",
    "normalised": "the same text but for trifles as another row",
    "near": "nearly the same text as another row",
}


def drop_copies(draft: Draft, kind: str, keep: str | None, seed: int = 42) -> Draft:
    """The draft without copies: no two rows that stay are alike, and each that goes is like one that stays.

    Rows on the side that `keep` names are looked at first, then by id; None as `keep` is for rows that are drawn anew
    anyway. With `test`, the test part stays as it is but for copies within it, so that scores on it can still be
    compared; the training part loses its copies. Of a chain of near-duplicates only those go that are themselves like
    a row that stays.
    """
    found, mixed = draft, 0
    while True:  # a search among fewer rows may see pairs that a crowd of copies hid
        rows = found.active
        part = np.zeros(len(rows), np.intp) if keep is None else _preference(found, keep)
        kept = stand_ins(ties(found.data, rows, kind, seed), np.lexsort((np.arange(len(rows)), part)))
        copies = np.flatnonzero(kept != np.arange(len(rows)))
        if not len(copies):
            break
        labels = found.data.labels[rows]
        mixed += int((labels[copies] != labels[kept[copies]]).sum())
        found = found.dropped(rows[copies], SAID[kind], rows[kept[copies]])
    if mixed:
        found = found.noted(f"{mixed:,} copies that were dropped had another label than the row that stayed")
    return found


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


def _preference(draft: Draft, keep: str) -> Rows:
    rank = np.zeros(max(TRAIN, DEV, TEST) + 1, np.intp)
    rank[list(PREFERRED[keep])] = np.arange(3)
    return rank[draft.parts[draft.active]]
