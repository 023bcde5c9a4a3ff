"""The runs of one pipeline audit: the pipeline as it is, how far it repeats itself, and what a change brings.

Changes are those of the test part that a clean pipeline cannot notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.findings import Judgement, evidence_of
from unseen.audits.pipelines.pipeline import Pipeline, PipelineAnswer
from unseen.errors import InputError
from unseen.seeding import generator
from unseen.types import Dataset, Finding, Measurement, Split, string_array
from unseen.types.arrays import Floats, Mask, Rows, encode_labels

SYLLABLES = np.array([first + second for first in "bdfgklmnprstvz" for second in "aeiou"])
SYLLABLES_PER_WORD = 5
FEWEST_WORDS, MOST_WORDS = 3, 12
WATCHED = 5000
"""Rows that a classifier is asked about."""
ROUNDING = 1e-5
"""Changes up to this may be rounding: sums in single precision depend on how rows are batched."""
NOISY = 1e-3
"""A pipeline whose answers differ by more than this between equal runs is not repeatable."""
MORE_REPEATS = 2
PLANTED, MOST_PLANTED = 80, 1000
TESTED = 50
"""Planted texts that should be tested."""
NO_ROWS: Rows = np.empty(0, np.intp)


@dataclass(frozen=True, eq=False)
class Planted:
    """Nonsense texts whose labels are coin tosses, put among the data."""

    data: Dataset
    """The data with the planted rows at its end."""
    rows: Rows
    labels: Mask
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
    return data.with_labels(labels), np.flatnonzero(labels != data.labels)


def labels_shuffled(data: Dataset, rows: Rows, seed: int, number: int) -> Dataset:
    """The labels of `rows` in random order."""
    by_id = ordered(data, rows, seed, "shuffled")
    labels = data.labels.copy()
    labels[by_id] = data.labels[by_id][generator(seed, "pipeline audit", "shuffled", number).permutation(len(by_id))]
    return data.with_labels(labels)


def texts_replaced(data: Dataset, rows: Rows, seed: int) -> Dataset:
    """Nonsense in place of the texts of `rows`: as many words, none of which occurs elsewhere."""
    texts = data.texts.to_pylist()
    by_id = ordered(data, rows, seed, "texts")
    noise = nonsense([len(texts[row].split()) for row in by_id], seed, "noise")
    for row, text in zip(by_id.tolist(), noise, strict=True):
        texts[row] = text
    return data.with_column("text", string_array(texts))


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


def nonsense(sizes: Sequence[int], seed: int, name: str) -> list[str]:
    """A text of as many made-up words as each size says, at least one."""
    counts = np.maximum(1, np.asarray(sizes, np.int64))
    chance = generator(seed, "pipeline audit", "nonsense", name)
    drawn = SYLLABLES[chance.integers(0, len(SYLLABLES), (int(counts.sum()), SYLLABLES_PER_WORD))]
    words = ["".join(syllables) for syllables in drawn.tolist()]
    ends = np.cumsum(counts).tolist()
    return [" ".join(words[end - size : end]) for end, size in zip(ends, counts.tolist(), strict=True)]


@dataclass(frozen=True, eq=False)
class RowChange:
    """How far answers about untouched rows have moved."""

    rows: Rows
    sizes: Floats
    """Largest change of a score, by row."""


@dataclass(frozen=True, eq=False)
class Noise:
    """How far answers move between equal runs."""

    largest: float
    mean: float
    runs: int

    @property
    def repeatable(self) -> bool:
        """Whether equal runs answer the same, but for rounding."""
        return self.largest <= NOISY

    @property
    def tolerance(self) -> float:
        """Changes up to this are not taken for changes."""
        return max(ROUNDING, 10 * self.largest)


@dataclass(frozen=True, eq=False)
class Bench:
    """A pipeline, the data and the split it is given (None where it makes its own)."""

    pipeline: Pipeline
    data: Dataset
    split: Split | None
    seed: int = 42
    planted: int | None = None

    @cached_property
    def watched(self) -> Rows:
        """Rows that a classifier is asked about."""
        return np.sort(ordered(self.data, np.arange(len(self.data)), self.seed, "watched")[:WATCHED])

    @cached_property
    def baseline(self) -> PipelineAnswer:
        """The pipeline on the data as they are."""
        return self.run(self.data, self.split)

    @cached_property
    def equal_runs(self) -> list[PipelineAnswer]:
        """The baseline and its repetitions: one, and more where that one differs."""
        runs = [self.baseline, self.run(self.data, self.split)]
        if not self._noise(runs).repeatable:
            runs += [self.run(self.data, self.split) for _ in range(MORE_REPEATS)]
        return runs

    @cached_property
    def noise(self) -> Noise:
        """How far equal runs differ."""
        return self._noise(self.equal_runs)

    @cached_property
    def test(self) -> Rows:
        """The test rows: those of the split, or those that the pipeline tested itself."""
        return self.baseline.rows if self.split is None else self.split.rows("test")

    @property
    def to_plant(self) -> int:
        """Nonsense texts to plant: so many that enough of them are tested."""
        if self.planted is not None:
            return self.planted
        share = 1.0 if self.split is not None else len(self.baseline.rows) / len(self.data)
        return int(np.clip(TESTED / max(share, 1e-9), PLANTED, MOST_PLANTED))

    def run(self, data: Dataset, split: Split | None, asked: Dataset | None = None) -> PipelineAnswer:
        """The pipeline on `data`; a classifier is asked about the watched rows as they were, or about `asked`."""
        return self.pipeline.run(data, split, self.seed, self.data.take(self.watched) if asked is None else asked)

    def run_changed(
        self, data: Dataset, parts: npt.NDArray[np.int8] | None = None, asked: Dataset | None = None
    ) -> PipelineAnswer:
        """The pipeline on changed data, with the split it had, or these parts; `asked` as in `run`."""
        if self.split is None:
            return self.run(data, None, asked)
        parts, clusters = self.split.parts if parts is None else parts, np.full(len(data), -1, np.int32)
        split = replace(self.split, ids=data.ids, parts=parts, clusters=clusters, dataset=data.fingerprint)
        return self.run(data, split, asked)

    def change(
        self, first: PipelineAnswer, second: PipelineAnswer, touched: Rows = NO_ROWS, old: Rows | None = None
    ) -> RowChange | None:
        """What has changed between two runs, about rows whose texts are the same; None when they tested other rows.

        `old` are the positions in the data of the rows of the second run, where rows were taken out.
        """
        if first.classifier is not None and second.classifier is not None:
            return RowChange(self.watched, np.abs(first.scores - second.scores).max(axis=1, initial=0))
        now = second.rows if old is None else old[second.rows]
        if self.split is None and not np.array_equal(first.rows, now):
            return None
        both = np.intersect1d(first.rows, now)
        if old is None and len(both) < len(now):
            raise InputError(f"the pipeline {self.pipeline.name} answered about other rows than before")
        rows = np.setdiff1d(both, touched)
        moved = np.abs(first.at(rows) - second.scores[np.searchsorted(now, rows)])
        return RowChange(rows, moved.max(axis=1, initial=0))

    def _noise(self, runs: list[PipelineAnswer]) -> Noise:
        largest, mean = 0.0, 0.0
        for place, first in enumerate(runs):
            for second in runs[place + 1 :]:
                change = self.change(first, second)
                if change is None:  # another test part: nothing is repeated
                    return Noise(np.inf, np.inf, len(runs))
                if len(change.sizes):
                    largest, mean = max(largest, float(change.sizes.max())), max(mean, float(change.sizes.mean()))
        return Noise(largest, mean, len(runs))

    def ids(self, rows: Rows) -> tuple[str, ...]:
        """The first ids of `rows`, as evidence."""
        return evidence_of(self.data, rows)

    def judgement(
        self,
        experiment: str,
        level: str,
        message: str,
        numbers: Mapping[str, float] | None = None,
        n: int = 0,
        *,
        count: int = 0,
        evidence: tuple[str, ...] = (),
        advice: str = "",
    ) -> Judgement:
        """The finding of an experiment, and its numbers by name, each about `n` answers.

        A finding that is ok has no count, no evidence and no advice.
        """
        tags: dict[str, str | int | float] = {
            "pipeline": self.pipeline.name, "experiment": experiment, "seed": self.seed,
        }  # fmt: skip
        measurements = [
            Measurement(f"pipeline.{name}", value if n else None, n, tags=tags)
            for name, value in (numbers or {}).items()
        ]
        check = f"pipeline.{experiment}"
        if level == "ok":
            return measurements, Finding(check, level, message)
        return measurements, Finding(check, level, message, count, evidence, advice)


def skipped(experiment: str, why: str) -> Judgement:
    """The finding of an experiment that could not be made."""
    return [], Finding(f"pipeline.{experiment}", "skipped", why)
