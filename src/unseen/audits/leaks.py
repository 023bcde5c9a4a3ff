"""Test rows that the training part gives away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from unseen.audits.subject import Subject
from unseen.duplicates.pairs import Floats, Rows
from unseen.store.files import harmless, write_rows
from unseen.types import Dataset

COLUMNS = ["kind", "side", "id", "row", "partner_id", "partner_row", "similarity"]


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
