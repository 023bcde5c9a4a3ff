"""Who wrote which row: authors as numbers, those without a name apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.types import Dataset

UNKNOWN = -1


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
        column = data.attribute(author)
        if pa.types.is_nested(column.type):
            raise InputError(
                f"the attribute {author!r} has several values per row, so it names no author", got=str(column.type)
            )
        names = pc.cast(column, pa.large_string())
        names = pc.if_else(pc.equal(names, ""), pa.scalar(None, pa.large_string()), names).combine_chunks()
        encoded = names.dictionary_encode()
        # numbered by name, so that the order of rows decides nothing
        rank = np.argsort(np.argsort(np.asarray(encoded.dictionary.to_pylist(), dtype=object), kind="stable"))
        found = encoded.indices.fill_null(UNKNOWN).to_numpy(zero_copy_only=False).astype(np.intp)
        if len(rank):
            found = np.where(found == UNKNOWN, UNKNOWN, rank[found])
        return cls(found, len(rank))

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Rows whose author is known."""
        return self.code != UNKNOWN

    def table(self, labels: npt.NDArray[np.integer], k: int) -> npt.NDArray[np.int64]:
        """Rows per author and label [authors, k]; those of unknown authors are not in it."""
        cells = self.code[self.known] * k + labels[self.known]
        return np.bincount(cells, minlength=self.count * k).reshape(self.count, k)
