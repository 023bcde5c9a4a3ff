"""A split while it is repaired, with a record of every change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.types import INDEPENDENT, PARTS, TEST, UNUSED, Dataset, Origin, Split
from unseen.types.arrays import Codes, Mask, Rows

UNDIVIDED = -1
"""Part of a row that has none yet."""


@dataclass(frozen=True)
class RepairChange:
    """One row that is not what or where it was."""

    id: str
    action: str
    """`dropped`, `moved` or `relabelled`."""
    reason: str
    before: str
    """Part, or label, before; nothing when the row had no part yet."""
    after: str
    like: str = ""
    """Id of the row that stayed in its place; nothing when none did."""


@dataclass(frozen=True, eq=False)
class Draft:
    """A dataset, the part of each of its rows so far, and what was changed. Steps return the next draft."""

    data: Dataset
    parts: npt.NDArray[np.int8]
    """Position in `PARTS`; -1 where a row has no part yet."""
    changes: tuple[RepairChange, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, data: Dataset, split: Split | None = None) -> Draft:
        """The split as it was given; without one no row has a part yet."""
        return cls(data, np.full(len(data), UNDIVIDED, np.int8) if split is None else split.parts)

    @cached_property
    def active(self) -> Rows:
        """Rows that take part, in the order of their ids: all but the independent and the unused ones."""
        by_id = self.data.by_id
        return by_id[~np.isin(self.parts[by_id], (INDEPENDENT, UNUSED))]

    @property
    def labels(self) -> Rows:
        """Label codes of the active rows."""
        return self.data.labels[self.active].astype(np.intp)

    @property
    def tested(self) -> Mask:
        """Which of the active rows are in the test part."""
        return np.asarray(self.parts[self.active] == TEST)

    def noted(self, note: str) -> Draft:
        """The draft with one more note."""
        return replace(self, notes=(*self.notes, note))

    def dropped(self, rows: Rows, reason: str, like: Rows | None = None) -> Draft:
        """The draft without these rows; `like` are those that stay in their place."""
        return self._placed("dropped", rows, np.full(len(rows), UNUSED, np.int8), reason, like)

    def moved(self, rows: Rows, to: npt.NDArray[np.int8], reason: str) -> Draft:
        """The draft with these rows in other parts; rows that had no part get one without being listed."""
        rows, to = rows[self.parts[rows] != to], to[self.parts[rows] != to]
        return self._placed("moved", rows, to, reason)

    def _placed(
        self, action: str, rows: Rows, to: npt.NDArray[np.int8], reason: str, like: Rows | None = None
    ) -> Draft:
        others = [""] * len(rows) if like is None else names_of(self.data, like)
        names = (*PARTS, "")  # -1, no part yet, is the last
        changes = [
            RepairChange(name, action, reason, names[old], names[new], other)
            for name, old, new, other in zip(
                names_of(self.data, rows), self.parts[rows].tolist(), to.tolist(), others, strict=True
            )
            if action != "moved" or old != UNDIVIDED
        ]
        parts = self.parts.copy()
        parts[rows] = to
        return replace(self, parts=parts, changes=(*self.changes, *changes))

    def relabelled(self, rows: Rows, to: Codes, reason: str) -> Draft:
        """The draft of a new dataset in which these rows have other labels."""
        if not len(rows):
            return self
        labels, names = self.data.labels.copy(), self.data.label_names
        changes = [
            RepairChange(name, "relabelled", reason, names[old], names[new])
            for name, old, new in zip(names_of(self.data, rows), labels[rows].tolist(), to.tolist(), strict=True)
        ]
        labels[rows] = to
        origin = Origin("repair", {"relabelled": len(rows)}, None, {"dataset": self.data.fingerprint})
        data = replace(self.data.with_labels(labels), origin=origin)
        return replace(self, data=data, changes=(*self.changes, *changes))


def names_of(data: Dataset, rows: Rows) -> list[str]:
    """Ids of these rows."""
    return list(data.ids.take(pa.array(rows)).to_pylist())
