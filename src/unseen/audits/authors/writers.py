"""Who wrote which row: authors as numbers, those without a name apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.data.groups import NONE, group_codes
from unseen.types import Dataset

UNKNOWN = NONE
"""The code of a row whose author is not known."""


@dataclass(frozen=True, eq=False)
class Writers:
    """The author of each row of a dataset."""

    code: npt.NDArray[np.intp]
    """A number per row, equal for equal authors; -1 where the author is not known."""
    count: int
    """Authors that are known."""

    @classmethod
    def of(cls, data: Dataset, author: str) -> Writers:
        """The authors that the attribute `author` names; a missing or empty name is an unknown author."""
        codes = group_codes(data, author)
        return cls(codes, int(codes.max(initial=NONE)) + 1)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows whose author is known."""
        return np.asarray(self.code != UNKNOWN)

    def table(self, labels: npt.NDArray[np.integer], k: int) -> npt.NDArray[np.int64]:
        """Rows per author and label [authors, k]; those of unknown authors are not in it."""
        cells = self.code[self.known] * k + labels[self.known]
        return np.bincount(cells, minlength=self.count * k).reshape(self.count, k)
