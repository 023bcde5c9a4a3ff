"""All datasets in one table, so that a training or test set is a choice of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.evaluation.measurements import drawn_groups
from unseen.runs.transfer.members import USED, Member
from unseen.types import Dataset

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Corpus:
    """The texts of all datasets, one dataset after the other; an id begins with the name of its dataset."""

    members: Sequence[Member]
    data: Dataset

    @classmethod
    def of(cls, members: Sequence[Member]) -> Corpus:
        """The corpus of these datasets."""
        return cls(members, Dataset("corpus", pa.concat_tables([_table(each) for each in members]), _labels(members)))

    @property
    def names(self) -> list[str]:
        """Names of the datasets."""
        return [each.name for each in self.members]

    @cached_property
    def starts(self) -> dict[str, int]:
        """The first row of each dataset."""
        ends = np.cumsum([0, *(len(each.data) for each in self.members)]).tolist()
        return dict(zip(self.names, ends[:-1], strict=True))

    def rows(self, name: str, part: str) -> Rows:
        """Rows of one part of one dataset."""
        return self.starts[name] + self.member(name).rows(part)

    def member(self, name: str) -> Member:
        """The dataset of that name."""
        return next(each for each in self.members if each.name == name)

    def units(self, name: str) -> Rows | None:
        """What is drawn together among the test rows of a dataset; None when every text stands alone."""
        member = self.member(name)
        if member.entry.groups is None:
            return None
        return drawn_groups(member.data.attribute(member.entry.groups))[member.rows("test")]

    @cached_property
    def tests(self) -> dict[str, Dataset]:
        """The test set of each dataset."""
        return {name: self.data.take(self.rows(name, "test")) for name in self.names}

    def sizes(self, name: str) -> dict[str, dict[str, int]]:
        """Rows per label in each part of a dataset."""
        return {part: self.data.take(self.rows(name, part)).label_counts for part in USED}


def _table(member: Member) -> pa.Table:
    ids = [f"{member.name}/{each}" for each in member.data.ids.to_pylist()]
    table = member.data.table.select(["id", "text", "label"])
    table = table.set_column(0, "id", pa.chunked_array([pa.array(ids, pa.large_string())]))
    return table.set_column(1, "text", table["text"].cast(pa.large_string())).unify_dictionaries()


def _labels(members: Sequence[Member]) -> tuple[str, ...]:
    return members[0].data.label_names
