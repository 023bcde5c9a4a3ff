"""What is audited: data, a split of it, what its columns mean, and what its training part knows of its test part."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.audits.findings import evidence_of
from unseen.data.groups import NONE, alone, group_codes, holds_links, referred
from unseen.duplicates import Pairs, near_pairs, same, same_forms, vector_pairs
from unseen.errors import MismatchError, UnseenWarning
from unseen.registry import require_known
from unseen.store.files import harmless, write_rows
from unseen.types import Dataset, Embeddings, Split
from unseen.types.arrays import Floats, Mask, Rows

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
COLUMNS = ["kind", "side", "id", "row", "partner_id", "partner_row", "similarity"]


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
        require_known("role", ROLES, *self.columns)
        for attribute in self.columns.values():
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
        require_known("kind of leak", (*LIKENESSES, *GROUPINGS), kind)
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


@dataclass(frozen=True, eq=False)
class Leak:
    """One kind of tie between the test part and the rows a model learns from."""

    kind: str
    test: Rows
    """Test rows that are tied to a training or development row."""
    train: Rows
    """Training and development rows that are tied to a test row."""
    partner: Rows
    """For each of `test`, the row it is most like."""
    similarity: Floats

    def __len__(self) -> int:
        return len(self.test)


def leak(subject: Subject, kind: str) -> Leak | None:
    """What leaks by one kind of likeness or grouping; None without a split, an attribute or vectors to tell."""
    pairs = None if subject.split is None else subject.alike(kind)
    if pairs is None:
        return None
    test, train = subject.mask(subject.test), subject.mask(subject.train)
    rows, partner, similarity = pairs.across(test, train)
    return Leak(kind, rows, pairs.across(train, test)[0], partner, similarity)


def contradicted(subject: Subject, kind: str) -> Rows:
    """Test rows that are like a training or development row with another label; without a split, like any other row."""
    pairs = subject.alike(kind)
    if pairs is None:
        return np.empty(0, np.intp)
    ours = subject.mask(subject.used if subject.split is None else subject.test)
    theirs, labels = subject.mask(subject.train), subject.data.labels
    by_label = [pairs.across(ours & (labels == one), theirs & (labels != one))[0] for one in np.unique(labels)]
    return np.sort(np.concatenate([np.empty(0, np.intp), *by_label]))


def write_leaks(data: Dataset, leaks: Iterable[Leak], path: str | Path, texts: bool = False) -> Path:
    """A line per leaked row of either side; a test row has the row it is most like beside it. Texts only if asked."""
    columns = [*COLUMNS, *(["text", "partner_text"] if texts else [])]
    return write_rows(path, columns, (line for leak in leaks for line in _lines(data, leak, texts)))


def _lines(data: Dataset, leak: Leak, texts: bool) -> Iterator[list[str]]:
    (own, own_texts), (partners, partner_texts), (others, other_texts) = (
        _named(data, rows, texts) for rows in (leak.test, leak.partner, leak.train)
    )
    for row, partner, likeness, *both in zip(own, partners, leak.similarity, own_texts, partner_texts, strict=True):
        yield [leak.kind, "test", *row, *partner, f"{likeness:.4f}", *(both if texts else [])]
    for row, text in zip(others, other_texts, strict=True):
        yield [leak.kind, "train", *row, "", "", "", *([text, ""] if texts else [])]


def _named(data: Dataset, rows: Rows, texts: bool) -> tuple[list[tuple[str, str]], list[str]]:
    """Id and place of each row, and its text, empty unless asked for."""
    chosen = pa.array(rows)
    ids = map(harmless, data.ids.take(chosen).to_pylist())
    places = [data.place(int(row)) for row in rows]
    content = [harmless(text) for text in data.texts.take(chosen).to_pylist()] if texts else [""] * len(rows)
    return list(zip(ids, places, strict=True)), content


def texts_together(datasets: Sequence[Dataset]) -> Dataset:
    """The texts of several datasets, one after the other, as one; ids are numbers and labels mean nothing.

    For looking for copies between them.
    """
    texts = pa.chunked_array([data.texts.cast(pa.large_string()).combine_chunks() for data in datasets])
    ids = pa.array([str(row) for row in range(len(texts))], pa.large_string())
    label = pa.DictionaryArray.from_arrays(np.zeros(len(texts), np.int32), pa.array([""]))
    table = pa.table({"id": pa.chunked_array([ids]), "text": texts, "label": pa.chunked_array([label])})
    return Dataset("all texts", table, ("",))
