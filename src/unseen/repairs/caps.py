"""At most so many rows of one author, or of any other group, in a class."""

from __future__ import annotations

import numpy as np

from unseen.repairs.alike import values
from unseen.repairs.draft import TRAIN, Draft
from unseen.seeding import generator


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
    key = np.unique(codes, return_inverse=True)[1].reshape(-1) * len(draft.data.label_names) + draft.data.labels[rows]
    drawn = generator(seed, "cap").permutation(len(rows))
    order = drawn[np.argsort(key[drawn], kind="stable")]
    starts = np.unique(key[order], return_index=True, return_inverse=True)
    rank = np.arange(len(rows)) - starts[1][starts[2].reshape(-1)]
    over = np.sort(order[rank >= cap])
    capped = draft.dropped(rows[over], f"over the cap of {cap} rows per {by} and class")
    return capped.noted(f"{missing:,} rows have no {by} and were not capped") if missing and len(over) else capped
