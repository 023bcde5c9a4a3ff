"""One row of each group of equal or nearly equal texts."""

from __future__ import annotations

import numpy as np

from unseen.repairs.alike import alike
from unseen.repairs.draft import DEV, TEST, TRAIN, UNDIVIDED, Draft, names_of

PREFERRED = {"test": (TEST, DEV, TRAIN), "train": (TRAIN, DEV, TEST), None: (UNDIVIDED,)}
"""Parts in which a copy stays, the first choice first."""
SAID = {
    "exact": "the same text as",
    "normalised": "the same text but for trifles as",
    "near": "nearly the same text as",
}


def drop_copies(draft: Draft, kind: str, keep: str | None, seed: int = 42) -> Draft:
    """The draft with one row of each group of alike texts: the one with the first id, on the side that `keep` names.

    None as `keep` is for rows that are drawn anew anyway. With `test`, the test part stays as it is but for copies
    within it, so that scores on it can still be compared; the training part loses its copies.
    """
    found, mixed = draft, 0
    while True:  # a search among fewer rows may see pairs that a crowd of copies hid
        rows = found.active
        codes = alike(found.data, rows, kind, seed)
        part = np.zeros(len(rows), np.intp) if keep is None else _preference(found, keep)
        order = np.lexsort((np.arange(len(rows)), part, codes))
        _, first, group = np.unique(codes[order], return_index=True, return_inverse=True)
        kept = np.empty(len(rows), np.intp)
        kept[order] = order[first][group.reshape(-1)]
        copies = np.flatnonzero(kept != np.arange(len(rows)))
        if not len(copies):
            break
        labels = found.data.labels[rows]
        mixed += int((labels[copies] != labels[kept[copies]]).sum())
        reasons = [f"{SAID[kind]} {name}" for name in names_of(found.data, rows[kept[copies]])]
        found = found.dropped(rows[copies], reasons)
    if mixed:
        found = found.noted(f"{mixed:,} copies that were dropped had another label than the row that stayed")
    return found


def _preference(draft: Draft, keep: str) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    rank = np.zeros(max(TRAIN, DEV, TEST) + 1, np.intp)
    rank[list(PREFERRED[keep])] = np.arange(3)
    return rank[draft.parts[draft.active]]
