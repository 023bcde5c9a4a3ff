"""Experiments: arms, which are trainings on chosen rows; conditions, which are arms that differ in their seed alone;
and contrasts between conditions.

Whatever compares trainings on different rows (with and without leaks, random and unseen authors, one dataset and
another) is a list of arms and a list of contrasts. A control is a condition that differs from another in one thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen import api, inference
from unseen.audits.removals import cost_of_removal
from unseen.engines import Inline, Local, Step, Workspace
from unseen.engines.steps import carry_out
from unseen.errors import InputError
from unseen.evaluation.falls import Run, fall, level
from unseen.runs.cost import FASTER, Cost, speed
from unseen.runs.spaces import Model
from unseen.runs.training_steps import fit
from unseen.store import read_predictions, write_predictions
from unseen.store.files import file_name, temporary_folder
from unseen.store.results import Results
from unseen.types import Dataset, Measurement, Predictions, Split
from unseen.types.numbers import turned

Rows = npt.NDArray[np.intp]
DEV = 0.1
"""Share of the training rows that is drawn for dev where a split has none."""
Conditions = Mapping[Any, Sequence[Run]]
"""What models of each condition say about the rows they are asked about."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some rows of a dataset, copied only while they are needed: a hundred arms on one dataset hold it once."""

    data: Dataset
    rows: npt.NDArray[np.intp]

    def taken(self) -> Dataset:
        """These rows as a dataset of their own."""
        return self.data.take(self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is handed these rows, not all of them."""
        return Chosen, (self.taken(), np.arange(len(self.rows)))


@dataclass(frozen=True, eq=False)
class Arm:
    """One training: what it learns from, what is asked of it, and from which seed."""

    name: str
    """For people, and what tells its answers apart."""
    train: Dataset | Chosen
    dev: Dataset | Chosen
    ask: Mapping[str, Dataset]
    """Test sets by name; all have the labels of `train`."""
    seed: int = 42

    def step(self, model: Model) -> Step:
        """The training as a step; the same rows, model and seed are trained once, whatever the arm is called."""
        asked = {name: _identity(data) for name, data in self.ask.items()}
        settings = {
            "model": model.described, "train": _identity(taken(self.train)), "dev": _identity(taken(self.dev)),
            "ask": asked, "seed": self.seed,
        }  # fmt: skip
        return Step(
            f"train {self.name}", f"{__name__}:train", settings, {}, {"arm": self.name}, uses_gpu=model.is_transformer
        )


def taken(rows: Dataset | Chosen) -> Dataset:
    """The rows as a dataset."""
    return rows.taken() if isinstance(rows, Chosen) else rows


def answers(
    arms: Sequence[Arm], model: Model, results: Results | None = None, *, workers: int = 1, work: str = "trainings"
) -> dict[str, dict[str, Predictions]]:
    """What the model of every arm says about each of its test sets: by name of the arm, then of the test set.

    Trainings that `results` holds are not repeated, and one that was interrupted goes on where it stopped; without
    `results` nothing is kept.
    """
    if len({arm.name for arm in arms}) < len(arms):
        raise InputError("two arms have one name", got=", ".join(arm.name for arm in arms))
    if results is None:
        with temporary_folder() as folder:
            return answers(arms, model, Results(folder), workers=workers, work=work)
    steps = {arm.name: arm.step(model) for arm in arms}
    engine = Inline() if workers == 1 else Local(workers)
    carry_out(list(steps.values()), engine, results, {arm.name: arm for arm in arms}, work)
    return {
        arm.name: {
            name: read_predictions(_file(results.folder(steps[arm.name].key), name), data)
            for name, data in arm.ask.items()
        }
        for arm in arms
    }


def cost_of(arms: Sequence[Arm], model: Model, results: Results | None = None) -> Cost:
    """What these arms cost, the speed tried now."""
    left = [arm for arm in arms if results is None or not results.has(arm.step(model).key)]
    texts = sum(_size(arm.train) for arm in left) * model.epochs
    asked = sum(_size(each) for arm in left for each in arm.ask.values())
    fast = speed(model, taken(left[0].train)) if left else None
    seconds = None if fast is None else (texts + asked / FASTER) / fast
    return Cost(len(arms), len(arms) - len(left), texts, fast, seconds)


@dataclass(frozen=True)
class Contrast:
    """Two conditions that are compared, and how."""

    reference: Any
    compared: Any
    tags: Mapping[str, Any] = field(default_factory=dict)
    sign: str = "fall"
    """`fall`: the reference less what is compared with it, above zero is worse; `difference`: the other way round."""
    removals: bool = False
    """Whether the arms of the reference, or of what is compared, each lack other random rows: the interval then draws
    test rows and adds the spread between these removals; else it is over seeds and test rows."""

    def measured(self, conditions: Conditions, metric: str, seed: int = 42) -> Measurement:
        """`fall.METRIC` or `difference.METRIC`."""
        before, after = conditions[self.reference], conditions[self.compared]
        compare = cost_of_removal if self.removals else fall
        row = compare(before, after, metric, tags=self.tags, seed=seed)
        row = row if self.sign == "fall" else turned(row)
        return replace(row, metric=f"{self.sign}.{metric}")


def measured(
    conditions: Conditions,
    metrics: Sequence[str],
    contrasts: Sequence[Contrast] = (),
    tags: Mapping[Any, Mapping[str, Any]] | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """The score of every condition that has `tags`, under these, then every contrast; metric by metric."""
    rows: list[Measurement] = []
    for metric in metrics:
        for condition, told in (tags or {}).items():
            rows += level(conditions[condition], metric, tags=told, seed=seed)
        rows += [contrast.measured(conditions, metric, seed) for contrast in contrasts]
    return rows


def in_order(data: Dataset, rows: Rows) -> Rows:
    """These rows in the order of their ids, so that the order of the file decides nothing."""
    return rows[pc.sort_indices(data.ids.take(rows)).to_numpy()]


def with_dev(data: Dataset, split: Split, seed: int) -> tuple[Rows, Rows]:
    """The rows of train and of dev, in the order of their ids; a tenth of train is drawn where a split has no dev."""
    train, dev = split.rows("train"), split.rows("dev")
    if not len(dev):
        drawn = api.split(data.take(train), "random", test=DEV, seed=seed)
        train, dev = train[drawn.rows("train")], train[drawn.rows("test")]
    return in_order(data, train), in_order(data, dev)


def refuse_without_parts(data: Dataset, split: Split) -> Split:
    """The split in the order of the data; refuses one without training or test rows."""
    split = split.of(data)
    lacking = [part for part in ("train", "test") if not len(split.rows(part))]
    if lacking:
        raise InputError(f"the split {split.name!r} has no {' and no '.join(lacking)} rows", got=str(split.sizes))
    return split


def _size(rows: Dataset | Chosen) -> int:
    return len(rows.rows) if isinstance(rows, Chosen) else len(rows)


def train(here: Workspace) -> None:
    """Train one arm and write down what its model says about each test set."""
    arm: Arm = here.shared["arm"]
    model = fit(here.settings["model"], taken(arm.train), taken(arm.dev), arm.seed, here.scratch)
    for name, data in arm.ask.items():
        write_predictions(inference.predict(model, data, work=f"ask about {name}"), _file(here.folder, name))


def _identity(data: Dataset) -> list[str]:
    """Content and order of rows."""
    return [data.fingerprint, data.order]


def _file(folder: Path, name: str) -> Path:
    return folder / f"{file_name(name)}.parquet"
