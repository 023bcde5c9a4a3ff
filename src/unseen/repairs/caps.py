"""At most so many rows of one author, or of any other group, in a class."""

from __future__ import annotations

import numpy as np

from unseen.repairs.alike import values
from unseen.repairs.draft import TRAIN, Draft
from unseen.seeding import generator
from unseen.splits.caps import within_cap


def cap_rows(draft: Draft, cap: int, by: str, parts: str, seed: int = 42) -> Draft:
    """The draft with at most `cap` rows per value of `by` and class; which rows stay is drawn at random.

    `parts` is `train`, for that part alone, or `all`, for all rows together. Rows without a value are not capped.
    """
    rows = draft.active
    if parts == "train":
        rows = rows[draft.parts[rows] == TRAIN]
    if not len(rows):
        return draft
    codes, missing = values(draft.data, rows, by)
    cells = np.unique(codes, return_inverse=True)[1].reshape(-1) * len(draft.data.label_names) + draft.data.labels[rows]
    over = ~within_cap(cells, cap, generator(seed, "cap"))
    capped = draft.dropped(rows[over], f"over the cap of {cap} rows per {by} and class")
    return capped.noted(f"{missing:,} rows have no {by} and were not capped") if missing and over.any() else capped
