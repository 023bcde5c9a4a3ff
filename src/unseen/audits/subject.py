"""What is audited: data, a split of it, and what its columns mean."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.findings import evidence_of
from unseen.data.groups import NONE, alone, group_codes, holds_links, referred
from unseen.duplicates import Pairs, near_pairs, same, same_forms, vector_pairs
from unseen.duplicates.pairs import Mask, Rows
from unseen.errors import MismatchError, UnknownNameError, UnseenWarning
from unseen.types import Dataset, Embeddings, Split

GROUPINGS = ("author", "conversation", "template", "partner", "source", "original")
"""Roles of attributes whose equal values tie rows together."""
BY_ID = ("partner", "original")
"""Those whose values may be ids: of the row that this one contrasts with, or is a copy of."""
ROLES = (*GROUPINGS, "time")
LIKENESSES = ("exact", "normalised", "near", "semantic")
"""Ways for two texts to be alike, from the strictest to the loosest."""
NEAR, SEMANTIC = 0.8, 0.95
"""Default thresholds: share of 5-grams in common; cosine, seen from the centre of all vectors."""
NO_ROWS: Rows = np.empty(0, np.intp)


@dataclass(frozen=True, eq=False)
class Subject:
    """Data with a split, or without one, and the roles of its attributes."""

    data: Dataset
    split: Split | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    """Role -> attribute: author, conversation, template, partner, source, original, time."""
    vectors: Embeddings | None = None
    near: float = NEAR
    semantic: float = SEMANTIC
    seed: int = 42
    typed: str = ""
    """Data and split as arguments of a command, for advice; where nobody typed them, DATA and SPLIT."""

    def __post_init__(self) -> None:
        for role, attribute in self.columns.items():
            if role not in ROLES:
                raise UnknownNameError.of("role", role, ROLES)
            self.data.attribute(attribute)
        if self.split is not None:
            object.__setattr__(self, "split", self.split.of(self.data))
        if self.vectors is not None and not self.vectors.ids.equals(self.data.ids):
            raise MismatchError("the vectors belong to other rows, or to these in another order")

    @cached_property
    def train(self) -> Rows:
        """Rows that a model learns from: training and development part; all rows without a split."""
        return np.arange(len(self.data)) if self.split is None else self.split.rows("train", "dev")

    @cached_property
    def test(self) -> Rows:
        """Rows of the test part; none without a split."""
        return NO_ROWS if self.split is None else self.split.rows("test")

    @cached_property
    def used(self) -> Rows:
        """Rows of the training, development and test part; all rows without a split."""
        return np.arange(len(self.data)) if self.split is None else self.split.rows("train", "dev", "test")

    @property
    def one_sided(self) -> bool:
        """Whether a split has no rows on one of its sides, so that there is nothing to compare."""
        return self.split is not None and not (len(self.test) and len(self.train))

    def tags(self, part: str = "test") -> dict[str, Any]:
        """Tags of what is measured on a part."""
        return ({} if self.split is None else {"split": self.split.name}) | {"part": part}

    def evidence(self, rows: Rows) -> tuple[str, ...]:
        """The first few ids of these rows, in the order of the ids."""
        by_id = self.data.by_id
        return evidence_of(self.data, by_id[self.mask(rows)[by_id]])

    def command(self, name: str, options: str = "") -> str:
        """A whole command about this data and split, for advice."""
        arguments = self.typed or ("DATA" if self.split is None else "DATA --split SPLIT")
        return " ".join(
            filter(None, ("unseen", name, arguments, options, "-o fixed.csv" if name == "split repair" else ""))
        )

    def mask(self, rows: Rows) -> Mask:
        """These rows as a mask."""
        mask = np.zeros(len(self.data), bool)
        mask[rows] = True
        return mask

    def alike(self, kind: str) -> Pairs | None:
        """Which rows are tied together by one kind of likeness or grouping; None where nothing says it."""
        if kind not in self.known:
            self.known[kind] = self._ties(kind)
        return self.known[kind]

    @cached_property
    def known(self) -> dict[str, Pairs | None]:
        """The ties that were looked for already."""
        return {}

    def of(self, split: Split) -> Subject:
        """The same data with another split; ties that are known need not be looked for again."""
        other = replace(self, split=split)
        other.known.update(self.known)
        return other

    def _ties(self, kind: str) -> Pairs | None:
        if kind == "near":
            return near_pairs(self.data.texts, self.near, self.seed)
        if kind == "semantic":
            return None if self.vectors is None else vector_pairs(_centred(self.vectors), self.semantic, self.seed)
        if kind == "exact":
            return _equal(same(self.data.texts))
        if kind == "normalised":
            return _equal(same_forms(self.data.texts))
        if kind not in GROUPINGS:
            raise UnknownNameError.of("kind of leak", kind, (*LIKENESSES, *GROUPINGS))
        return tied(self.data, self.columns[kind], kind in BY_ID) if kind in self.columns else None


def with_links(data: Dataset, columns: Mapping[str, str], grouped: Collection[str] = ()) -> dict[str, str]:
    """The columns, with the first attribute that nothing names and that holds ids of other rows as the partners'."""
    if {*BY_ID} & columns.keys():
        return dict(columns)
    named = {*columns.values(), *grouped}
    linked = next((name for name in data.attributes if name not in named and holds_links(data, name)), None)
    if linked is None:
        return dict(columns)
    taken = f"the values of {linked!r} are ids of other rows: it is taken for the column of the contrast partners"
    warnings.warn(
        f"{taken}; if they are the originals of copies, say so: original={linked!r}", UnseenWarning, stacklevel=3
    )
    return {**columns, "partner": linked}


def _centred(vectors: Embeddings) -> npt.NDArray[np.float32]:
    """Vectors seen from their centre: in many spaces all point one way, and then even unrelated texts have a cosine
    of .7.
    """
    return np.asarray(vectors.vectors - np.mean(vectors.vectors, axis=0, dtype=np.float64).astype(np.float32))


def tied(data: Dataset, attribute: str, by_id: bool = False) -> Pairs:
    """Rows with equal values, `by_id` also a row whose value is the id of another; without a value it is not tied."""
    _, first, place = np.unique(alone(group_codes(data, attribute)), return_index=True, return_inverse=True)
    equal = first[place.reshape(-1)]
    if not by_id:
        return _equal(equal)
    to = referred(data, attribute)
    with_id = np.flatnonzero(to != NONE)
    return _equal(equal, equal[with_id], equal[to[with_id]])


def _equal(stands_for: Rows, one: Rows = NO_ROWS, other: Rows = NO_ROWS) -> Pairs:
    """Rows that stand for each other, and further ties between those that stand for the rest."""
    first, second = np.sort(np.stack([one, other]), axis=0).astype(np.intp)
    different = first != second
    return Pairs(stands_for.astype(np.intp), first[different], second[different], np.ones(int(different.sum())))
