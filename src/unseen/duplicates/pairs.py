"""Pairs of rows that are alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from unseen.types.arrays import Floats, Mask, Rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows that are alike. Rows that are equal are stood for by one of them, so that many copies are few pairs."""

    stands_for: Rows
    """For each row, the row that stands for it and for all rows that are equal to it; itself, or an earlier one."""
    first: Rows
    """Pairs of such rows, `first` before `second`."""
    second: Rows
    similarity: Floats

    @classmethod
    def among(cls, distinct: Rows, stands_for: Rows, first: Rows, second: Rows, similarity: Floats) -> Pairs:
        """Pairs of places in `distinct`, the rows that stand for others, put into the order of rows."""
        a, b = np.sort(np.stack([distinct[first], distinct[second]]), axis=0)
        order = np.lexsort((b, a))
        return cls(stands_for, a[order], b[order], similarity[order])

    @property
    def rows(self) -> int:
        """How many rows were compared."""
        return len(self.stands_for)

    def __len__(self) -> int:
        return len(self.first)

    def groups(self) -> Rows:
        """A number per row, the same for rows that are alike, directly or by way of others."""
        links = sparse.coo_array((np.ones(len(self), np.int8), (self.first, self.second)), shape=(self.rows, self.rows))
        _, groups = connected_components(links, directed=False)
        return groups[self.stands_for].astype(np.intp)

    def across(self, left: Mask, right: Mask) -> tuple[Rows, Rows, Floats]:
        """The rows of `left` that are like one of `right`, the one each is most like, and how much.

        Of equally similar rows, the first one counts.
        """
        ours = np.flatnonzero(left)
        holder = np.full(self.rows, -1, np.intp)
        theirs = np.flatnonzero(right)[::-1]
        holder[self.stands_for[theirs]] = theirs  # the first row of `right` is written last
        partner, likeness = holder.copy(), np.where(holder >= 0, 1.0, 0.0)
        a = np.concatenate([self.first, self.second])
        b = np.concatenate([self.second, self.first])
        value = np.concatenate([self.similarity, self.similarity])
        kept = holder[b] >= 0
        a, b, value = a[kept], holder[b[kept]], value[kept]
        order = np.lexsort((-b, value))  # the last one written is the most similar, and the first among equals
        better = order[value[order] > likeness[a[order]]]
        partner[a[better]], likeness[a[better]] = b[better], value[better]
        rows = ours[partner[self.stands_for[ours]] >= 0]
        return rows, partner[self.stands_for[rows]], likeness[self.stands_for[rows]]
