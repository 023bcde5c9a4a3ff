"""Texts labelled against their neighbourhood."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError
from unseen.evaluation.measuring import aligned
from unseen.splits.assignment import usable_threads
from unseen.splits.vectors import Rows, unit_rows
from unseen.types import Dataset, Embeddings, Predictions

NEIGHBOURS = 10
AT_ONCE = 16_000_000
"""Similarities held at a time by each thread."""


@dataclass(frozen=True, eq=False)
class Conflict:
    """Which of the rows that were looked at are labelled against their neighbourhood."""

    rows: npt.NDArray[np.intp]
    conflict: npt.NDArray[np.bool_]
    """The label is neither what most neighbours carry nor what the out-of-fold model says."""
    against_neighbours: npt.NDArray[np.bool_]
    against_model: npt.NDArray[np.bool_]
    margin: npt.NDArray[np.float64]
    """Out-of-fold probability of the label less that of the likeliest other."""

    @property
    def share(self) -> float:
        """Share of rows in conflict."""
        return float(self.conflict.mean())

    @property
    def worst(self) -> npt.NDArray[np.intp]:
        """Rows in conflict, the clearest first."""
        places = np.flatnonzero(self.conflict)
        return self.rows[places[np.argsort(self.margin[places], kind="stable")]]


def label_conflict(
    data: Dataset,
    test: npt.NDArray[np.intp],
    train: npt.NDArray[np.intp],
    vectors: Embeddings,
    out_of_fold: Predictions,
    k: int = NEIGHBOURS,
) -> Conflict:
    """Which `test` rows have a label that both their neighbours in `train` and a model without them deny.

    Neighbours deny it when another label is more frequent than it among the `k` nearest by cosine; a
    tie denies nothing. Either witness alone would only say that a text is hard. Both witnesses can
    share a mistake, so a conflict is a reason to read the text, not proof of a wrong label.
    """
    if not len(test) or not len(train):
        raise InputError("label conflict needs rows on both sides", got=f"{len(test)} test, {len(train)} train")
    gold, classes = data.labels[test], len(data.label_names)
    near = nearest_rows(vectors.vectors[test], vectors.vectors[train], k)
    votes = np.zeros((len(test), classes), np.int64)
    np.add.at(votes, (np.arange(len(test))[:, None], data.labels[train][near]), 1)
    own = np.arange(len(test)), gold
    against_neighbours = votes.max(axis=1) > votes[own]
    probabilities = aligned(data, out_of_fold, test)
    others = probabilities.copy()
    others[own] = -np.inf
    margin = probabilities[own] - others.max(axis=1)
    return Conflict(test, against_neighbours & (margin < 0), against_neighbours, margin < 0, margin)


def nearest_rows(rows: Rows, train: Rows, k: int = NEIGHBOURS, at_once: int = AT_ONCE) -> npt.NDArray[np.intp]:
    """Places of the `k` rows of `train` that are nearest to each row by cosine, in no order; exact, in blocks.

    Of equally near rows at the edge any may be taken.
    """
    k = min(k, len(train))
    units, rows = unit_rows(np.asarray(train)), unit_rows(np.asarray(rows))
    size = max(1, at_once // len(units))

    def nearest_of(start: int) -> npt.NDArray[np.intp]:
        similarity = rows[start : start + size] @ units.T
        return np.argpartition(-similarity, k - 1, axis=1)[:, :k]

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(usable_threads()) as pool:
        return np.concatenate(list(pool.map(nearest_of, range(0, len(rows), size))))
