"""A split while it is repaired, with a record of every change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.types import PARTS, Dataset, Origin

Rows = npt.NDArray[np.intp]
TRAIN, DEV, TEST, INDEPENDENT, UNUSED = map(PARTS.index, ("train", "dev", "test", "independent", "unused"))
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

    @cached_property
    def active(self) -> Rows:
        """Rows that take part, in the order of their ids: all but the independent and the unused ones."""
        by_id = pc.sort_indices(self.data.ids).to_numpy().astype(np.intp)
        return by_id[~np.isin(self.parts[by_id], (INDEPENDENT, UNUSED))]

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
        made = [
            RepairChange(name, action, reason, names[old], names[new], other)
            for name, old, new, other in zip(
                names_of(self.data, rows), self.parts[rows].tolist(), to.tolist(), others, strict=True
            )
            if action != "moved" or old != UNDIVIDED
        ]
        parts = self.parts.copy()
        parts[rows] = to
        return replace(self, parts=parts, changes=(*self.changes, *made))

    def relabelled(self, rows: Rows, to: npt.NDArray[np.integer], reason: str) -> Draft:
        """The draft of a new dataset in which these rows have other labels."""
        if not len(rows):
            return self
        labels, names = self.data.labels.copy(), self.data.label_names
        made = [
            RepairChange(name, "relabelled", reason, names[old], names[new])
            for name, old, new in zip(names_of(self.data, rows), labels[rows].tolist(), to.tolist(), strict=True)
        ]
        labels[rows] = to
        column = pa.DictionaryArray.from_arrays(pa.array(labels), pa.array(names, type=pa.string()))
        table = self.data.table.set_column(2, "label", pa.chunked_array([column]))
        origin = Origin("repair", {"relabelled": len(rows)}, None, {"dataset": self.data.fingerprint})
        data = replace(self.data, table=table, origin=origin)
        return replace(self, data=data, changes=(*self.changes, *made))


def names_of(data: Dataset, rows: Rows) -> list[str]:
    """Ids of these rows."""
    return list(data.ids.take(pa.array(rows)).to_pylist())
