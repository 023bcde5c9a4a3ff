"""Vectors of texts."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import VectorsError
from unseen.types.arrays import ROWS_AT_ONCE, finite_float32, refuse_repeats
from unseen.types.origin import Origin


@dataclass(frozen=True, eq=False)
class Embeddings:
    """One finite vector per row of a dataset, in its order."""

    ids: pa.ChunkedArray
    vectors: npt.NDArray[np.float32]
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2:
            raise VectorsError(
                "vectors must be a table", expected="two dimensions [rows, numbers]", got=f"shape {self.vectors.shape}"
            )
        if len(self.ids) != len(self.vectors):
            raise VectorsError(
                "vectors of another length",
                expected=f"{len(self.ids)} rows, one per text",
                got=f"{len(self.vectors)} rows",
                fix="encode this dataset again",
            )
        refuse_repeats(self.ids)
        object.__setattr__(self, "vectors", finite_float32(self.vectors))

    def __len__(self) -> int:
        return len(self.vectors)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.vectors, dtype=dtype) if copy else np.asarray(self.vectors, dtype=dtype)

    @cached_property
    def fingerprint(self) -> str:
        """Content hash of the vectors, in row order."""
        digest = hashlib.sha256(repr(self.vectors.shape).encode())
        for start in range(0, len(self), ROWS_AT_ONCE):
            digest.update(self.vectors[start : start + ROWS_AT_ONCE].tobytes())
        return digest.hexdigest()[:32]
