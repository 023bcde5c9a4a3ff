"""Rows that people have read: relabelled, or taken out, where all who read them agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.audits.reviewed_labels import INVALID, UNCLEAR, review_codes
from unseen.repairs.draft import Draft
from unseen.store.reviews import Review


def apply_reviews(draft: Draft, reviews: Sequence[Review]) -> Draft:
    """The draft in which rows have the label that people say is right, without those that are no valid items.

    Where reviewers disagree, or cannot tell, nothing is changed; a note counts these rows.
    """
    codes = review_codes(reviews, draft.data)
    read = [row for row in draft.active.tolist() if row in codes]
    agreed = {row: codes[row][0] for row in read if len({*codes[row]}) == 1}
    changed = [row for row, code in agreed.items() if code not in (UNCLEAR, draft.data.labels[row])]
    for people in sorted({len(codes[row]) for row in changed}):
        by = "1 reviewer says" if people == 1 else f"{people} reviewers say"
        rows = np.array([row for row in changed if len(codes[row]) == people], np.intp)
        to = np.array([agreed[row] for row in rows], np.intp)
        draft = draft.dropped(rows[to == INVALID], f"{by} that it is not a valid item")
        draft = draft.relabelled(rows[to != INVALID], to[to != INVALID], f"{by} that this label is right")
    unclear = sum(code == UNCLEAR for code in agreed.values())
    return draft.noted(
        f"{len(read):,} rows were reviewed; {len(read) - len(agreed):,} on which reviewers disagree and {unclear:,} "
        "that cannot be told were left as they are"
    )
