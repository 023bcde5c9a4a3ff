"""Which rows are for training and which for testing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.types.arrays import frozen, refuse_repeats
from unseen.types.dataset import Dataset
from unseen.types.origin import Origin

PARTS = ("train", "dev", "test", "independent", "unused")
"""Where a row of a split can be. `independent` is set aside before the split and takes no part in it; `unused` are
rows that nobody should train or test on, such as copies that a repair took out."""
TRAIN, DEV, TEST, INDEPENDENT, UNUSED = range(len(PARTS))


@dataclass(frozen=True)
class Certificate:
    """What a split was asked for, what it is, and what is proven about it."""

    asked: Mapping[str, int]
    """Test rows per label that were asked for."""
    got: Mapping[str, int]
    """Test rows per label in the split."""
    completed: int = 0
    """Test rows that were added singly because whole clusters did not add up to the size asked for."""
    n_clusters: int | None = None
    """Clusters of the clustering that was chosen; None when nothing was clustered."""
    missed_at_least: int | None = None
    """Proven: no choice of whole units comes nearer than this many rows. None when nothing is proven."""
    optimal: bool | None = None
    """The choice of whole units is proven to be the nearest possible. None when the method does not optimise."""
    groups: Mapping[str, Any] | None = None
    """Grouping attribute, number of groups, groups on both sides; None without groups."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        counts = [*self.asked.values(), *self.got.values(), self.completed, self.n_clusters or 0]
        if not all(isinstance(count, int) for count in counts):
            raise InputError("a certificate counts rows in whole numbers", got=", ".join(map(repr, counts[:10])))

    @property
    def missed(self) -> int:
        """Rows by which the test part differs from what was asked, summed over labels."""
        return sum(abs(self.asked[label] - self.got[label]) for label in self.asked)

    @property
    def completed_share(self) -> float:
        """Share of the test rows that were added singly."""
        return self.completed / max(1, sum(self.got.values()))


@dataclass(frozen=True, eq=False)
class Split:
    """Every row of a dataset in one part."""

    name: str
    ids: pa.ChunkedArray
    parts: npt.NDArray[np.int8]
    """Position of each row's part in `PARTS`."""
    clusters: npt.NDArray[np.int32]
    """Cluster of each row; -1 where the row was not clustered."""
    certificate: Certificate
    dataset: str
    """Fingerprint of the dataset that was split."""
    origin: Origin = field(default_factory=lambda: Origin("given"))

    def __post_init__(self) -> None:
        if not len(self.ids) == len(self.parts) == len(self.clusters):
            raise InputError(
                "a Split needs one part and one cluster per id",
                got=f"{len(self.ids)} ids, {len(self.parts)} parts, {len(self.clusters)} clusters",
            )
        refuse_repeats(self.ids)
        if len(self.parts) and not 0 <= self.parts.min() <= self.parts.max() < len(PARTS):
            raise InputError("a Split has an unknown part", expected=f"positions in {PARTS}")
        object.__setattr__(self, "parts", frozen(self.parts, np.int8))
        object.__setattr__(self, "clusters", frozen(self.clusters, np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, *parts: str) -> npt.NDArray[np.intp]:
        """Row positions of one part, or of several together, in row order."""
        for part in parts:
            if part not in PARTS:
                raise UnknownNameError.of("part", part, PARTS)
        return np.flatnonzero(np.isin(self.parts, [PARTS.index(part) for part in parts]))

    @property
    def sizes(self) -> dict[str, int]:
        """Rows per part, parts without rows left out."""
        counts = np.bincount(self.parts, minlength=len(PARTS)).tolist()
        return {part: count for part, count in zip(PARTS, counts, strict=True) if count}

    def of(self, data: Dataset) -> Split:
        """The same split in the row order of `data`; refuses a dataset with other content."""
        if self.dataset != data.fingerprint:
            raise MismatchError(
                f"the split {self.name!r} belongs to another dataset",
                expected=f"fingerprint {self.dataset}, {len(self)} rows",
                got=f"{data.name}: fingerprint {data.fingerprint}, {len(data)} rows",
                fix="load the same file with the same columns, labels and ids as when the split was made; a run with a "
                "limit splits only a part of its rows",
            )
        if self.ids.equals(data.ids):
            return self
        rows = pc.index_in(data.ids, value_set=self.ids)
        if len(self) != len(data) or rows.null_count:
            raise MismatchError(f"the ids of the split {self.name!r} are not those of {data.name}")
        order = rows.to_numpy(zero_copy_only=False).astype(np.intp)
        return replace(self, ids=data.ids, parts=self.parts[order], clusters=self.clusters[order])
