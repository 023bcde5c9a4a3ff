"""Changes to the test part that a clean pipeline cannot notice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.pipelines.answers import Rows
from unseen.seeding import generator
from unseen.types import Dataset, string_array
from unseen.types.arrays import encode_labels

SYLLABLES = np.array([first + second for first in "bdfgklmnprstvz" for second in "aeiou"])
SYLLABLES_PER_WORD = 5
FEWEST_WORDS, MOST_WORDS = 3, 12


@dataclass(frozen=True, eq=False)
class Planted:
    """Nonsense texts whose labels are coin tosses, put among the data."""

    data: Dataset
    """The data with the planted rows at its end."""
    rows: Rows
    labels: npt.NDArray[np.bool_]
    """Whether the planted row has the rarer of the two labels."""
    codes: tuple[int, int]
    """The commonest and the rarest label."""


def ordered(data: Dataset, rows: Rows, seed: int, name: str) -> Rows:
    """`rows` in a random order that does not depend on the order of the file."""
    by_id = data.by_id[np.isin(data.by_id, rows)]
    return by_id[generator(seed, "pipeline audit", name).permutation(len(by_id))]


def labels_exchanged(data: Dataset, rows: Rows, seed: int) -> tuple[Dataset, Rows]:
    """The labels of `rows` dealt to others of them, as many as possible changed; and which rows have changed.

    How often each label occurs stays the same.
    """
    chance = ordered(data, rows, seed, "labels")
    by_label = chance[np.argsort(data.labels[chance], kind="stable")]
    most = int(np.bincount(data.labels[rows]).max())
    labels = data.labels.copy()
    labels[by_label] = np.roll(data.labels[by_label], most)
    return with_labels(data, labels), np.flatnonzero(labels != data.labels)


def labels_shuffled(data: Dataset, rows: Rows, seed: int, number: int) -> Dataset:
    """The labels of `rows` in random order."""
    by_id = ordered(data, rows, seed, "shuffled")
    labels = data.labels.copy()
    labels[by_id] = data.labels[by_id][generator(seed, "pipeline audit", "shuffled", number).permutation(len(by_id))]
    return with_labels(data, labels)


def texts_replaced(data: Dataset, rows: Rows, seed: int) -> Dataset:
    """Nonsense in place of the texts of `rows`: as many words, none of which occurs elsewhere."""
    texts = data.texts.to_pylist()
    by_id = ordered(data, rows, seed, "texts")
    noise = nonsense([len(texts[row].split()) for row in by_id], seed, "noise")
    for row, text in zip(by_id.tolist(), noise, strict=True):
        texts[row] = text
    return _replaced(data, "text", string_array(texts))


def planted_among(data: Dataset, number: int, seed: int) -> Planted:
    """`data` and `number` nonsense texts; half have the commonest label and half the rarest, dealt by chance."""
    counts = np.bincount(data.labels, minlength=len(data.label_names))
    present = np.flatnonzero(counts)
    common, rare = int(present[counts[present].argmax()]), int(present[::-1][counts[present[::-1]].argmin()])
    is_rare = generator(seed, "pipeline audit", "coins").permutation(number) < number // 2
    size = int(np.clip(np.median(pc.list_value_length(pc.utf8_split_whitespace(data.texts))), FEWEST_WORDS, MOST_WORDS))
    names = np.array(data.label_names)[np.where(is_rare, rare, common)].tolist()
    columns = {
        "id": string_array([f"planted-{seed}-{place}" for place in range(number)]),
        "text": string_array(nonsense([size] * number, seed, "planted")),
        "label": encode_labels(string_array(names), data.label_names),
    }
    table = pa.concat_tables([data.table, _lent(data, number, seed, columns)])
    rows = np.arange(len(data), len(data) + number)
    return Planted(data.longer(table), rows, is_rare, (common, rare))


def _lent(data: Dataset, number: int, seed: int, columns: dict[str, pa.ChunkedArray]) -> pa.Table:
    """Rows with these ids, texts and labels, and the attributes of rows drawn from the data."""
    lenders = np.resize(ordered(data, np.arange(len(data)), seed, "lenders"), number)
    table = data.table.take(pa.array(lenders))
    for name, column in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, column.cast(data.table.schema.field(name).type))
    return table.replace_schema_metadata(data.table.schema.metadata)


def with_labels(data: Dataset, labels: npt.NDArray[np.int32]) -> Dataset:
    """The same rows with other labels."""
    column = encode_labels(string_array(np.array(data.label_names)[labels].tolist()), data.label_names)
    return _replaced(data, "label", column)


def _replaced(data: Dataset, name: str, column: pa.ChunkedArray) -> Dataset:
    """The dataset with another column of this name, of the type that it had."""
    place, kind = data.table.column_names.index(name), data.table.schema.field(name).type
    return replace(data, table=data.table.set_column(place, name, column.cast(kind)))


def nonsense(sizes: Sequence[int], seed: int, name: str) -> list[str]:
    """A text of as many made-up words as each size says, at least one."""
    counts = np.maximum(1, np.asarray(sizes, np.int64))
    chance = generator(seed, "pipeline audit", "nonsense", name)
    drawn = SYLLABLES[chance.integers(0, len(SYLLABLES), (int(counts.sum()), SYLLABLES_PER_WORD))]
    words = ["".join(syllables) for syllables in drawn.tolist()]
    ends = np.cumsum(counts).tolist()
    return [" ".join(words[end - size : end]) for end, size in zip(ends, counts.tolist(), strict=True)]
