"""The runs of one pipeline audit: the pipeline as it is, how far it repeats itself, and what a change brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unseen.audits.findings import Judgement, evidence_of
from unseen.audits.pipelines.answers import PipelineAnswer, Rows
from unseen.audits.pipelines.perturbations import ordered
from unseen.audits.pipelines.pipeline import Pipeline
from unseen.errors import InputError
from unseen.types import Dataset, Finding, Measurement, Split

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
class RowChange:
    """How far answers about untouched rows have moved."""

    rows: Rows
    sizes: npt.NDArray[np.float64]
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
