"""One hard split, the models trained on it, and what to compare them with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.label_noise import LabelNoise
from unseen.audits.shares import ids_of
from unseen.evaluation import Run, level
from unseen.evaluation.intervals import DRAWS
from unseen.types import Dataset, Finding, Measurement, Predictions, Split

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Trial:
    """One model trained on one split, and what it says about the rows of its parts."""

    split: Split
    seed: int
    predictions: Predictions
    """For all test rows; for the independent rows too, where there are some."""
    family: str = ""
    """Method of the split; by default its name."""
    seen: Predictions | None = None
    """For test rows, all or some, by models that were trained on the others: the seen control."""


@dataclass(frozen=True, eq=False)
class Case:
    """A hard split, the models trained on it, and everything to compare them with."""

    data: Dataset
    noise: LabelNoise
    hard: Sequence[Trial]
    control: Sequence[Trial]
    metric: str
    groups: str | None = None
    agreement: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further tags, e.g. the model."""
    draws: int = DRAWS
    seed: int = 42

    @property
    def split(self) -> Split:
        """The hard split."""
        return self.hard[0].split

    @cached_property
    def controls(self) -> list[Split]:
        """The different random splits."""
        return list({trial.split.name: trial.split for trial in self.control}.values())

    @property
    def tags(self) -> dict[str, str | int | float]:
        """Tags of what is measured on the hard test part."""
        return {"split": self.split.name, "part": "test", **self.more}

    def runs(self, trials: Sequence[Trial], part: str) -> list[Run]:
        """The trials on a part; none when a trial has no predictions there."""
        found = []
        for trial in trials:
            rows = trial.split.rows(part)
            known = pc.is_in(self.data.ids.take(pa.array(rows)), value_set=trial.predictions.ids)
            if not len(rows) or not pc.any(known).as_py():
                return []
            name = trial.split.name
            family = trial.family or name
            found.append(
                Run.of(
                    self.data, trial.predictions, rows, split=name, family=family, seed=trial.seed, groups=self.groups
                )
            )
        return found

    @cached_property
    def hard_runs(self) -> list[Run]:
        """The trials on the hard test part."""
        return self.runs(self.hard, "test")

    @cached_property
    def control_runs(self) -> list[Run]:
        """The trials of random splits on their test parts."""
        return self.runs(self.control, "test")

    def mean(self, runs: Sequence[Run], name: str, **tags: str) -> Measurement:
        """The level of `runs` under another name."""
        found = level(runs, self.metric, draws=self.draws, seed=self.seed)[0]
        return Measurement(name, found.value, found.n, found.low, found.high, tags=self.tags | tags)

    def finding(self, check: str, level: str, message: str, rows: Rows | None = None, advice: str = "") -> Finding:
        """A finding about this split; `rows` are the evidence."""
        count, evidence = (0, ()) if rows is None else (len(rows), ids_of(self.data, rows))
        return Finding(f"{check}[{self.split.name}]", level, message, count, evidence, advice)


def trained_on(split: Split) -> Rows:
    """Rows for training and for tuning."""
    return np.sort(np.concatenate([split.rows("train"), split.rows("dev")]))
