"""Experiments: arms, which are trainings on chosen rows; conditions, which are runs of arms that differ in their seed
alone; and contrasts between conditions.

Whatever compares trainings on different rows (with and without leaks, random and unseen authors, one dataset and
another, a task and a suite) is a list of arms and a list of levels and contrasts. A control is a condition that
differs from another in one thing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen import inference
from unseen.audits.price import ENOUGH, cost_of_removal
from unseen.costs.meter import measure_cost, write_costs
from unseen.engines import Inline, Local, Step, Workspace
from unseen.engines.steps import carry_out
from unseen.errors import InputError
from unseen.evaluation.falls import Run, fall, level
from unseen.evaluation.metrics import metric as metric_of
from unseen.models import open_model
from unseen.runs.estimate import FASTER, Estimate, speed
from unseen.runs.spaces import MODEL, Model, fit
from unseen.splits.split_records import random_rows
from unseen.store import read_predictions, write_predictions
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.types import Dataset, Measurement, Predictions, Split
from unseen.types.arrays import Codes, Rows
from unseen.types.numbers import turned

DEV = 0.1
"""Share of the training rows that is drawn for dev where a split has none."""
Condition = Sequence[Run]
"""What models that differ in their seed alone say about the rows they are asked about."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """Some rows of a dataset, copied only while they are needed: a hundred arms on one dataset hold it once."""

    data: Dataset
    rows: Rows | None = None
    """None: all of them."""

    @cached_property
    def identity(self) -> list[str]:
        """Content and order of these rows."""
        data = self.taken()
        return [data.fingerprint, data.order]

    def taken(self) -> Dataset:
        """These rows as a dataset of their own."""
        return self.data if self.rows is None else self.data.take(self.rows)

    def __len__(self) -> int:
        return len(self.data if self.rows is None else self.rows)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is handed these rows, not all of them."""
        return Chosen, (self.taken(),)


@dataclass(frozen=True, eq=False)
class Arm:
    """One training: what it learns from, what is asked of it, and from which seed."""

    name: str
    """For people, and what tells its answers apart."""
    train: Chosen
    dev: Chosen
    ask: Mapping[str, Chosen]
    """Test sets by name; all have the labels of `train`."""
    seed: int = 42
    start: Arm | None = None
    """The arm whose model it goes on from; that one is `kept`."""
    kept: bool = False
    """Whether its model is kept, so that others can start from it."""
    encoder: Step | None = None
    """The step that made the transformer it fine-tunes, where that is not the model's own."""

    def __post_init__(self) -> None:
        if self.start is not None and not self.start.kept:
            raise InputError(f"the model of {self.start.name!r} is not kept, so {self.name!r} cannot start from it")

    def step(self, model: Model) -> Step:
        """The training as a step; the same rows, model and seed are trained once, whatever the arm is called."""
        settings = {
            "model": model.described, "train": self.train.identity, "dev": self.dev.identity,
            "ask": {name: chosen.identity for name, chosen in self.ask.items()}, "seed": self.seed,
        }  # fmt: skip
        settings |= ({"kept": True} if self.kept else {}) | ({} if self.start is None else model.opening)
        needs = {} if self.start is None else {"start": self.start.step(model)}
        needs |= {} if self.encoder is None else {"encoder": self.encoder}
        shared = {"arm": self.name}
        return Step(f"train {self.name}", f"{__name__}:train", settings, needs, shared, uses_gpu=model.is_transformer)


def answers(
    arms: Sequence[Arm], model: Model, results: Results, *, workers: int = 1, work: str = "trainings"
) -> dict[str, dict[str, Predictions]]:
    """What the model of every arm says about each of its test sets: by name of the arm, then of the test set.

    Trainings that `results` holds are not repeated, and one that was interrupted goes on where it stopped.
    """
    if len({arm.name for arm in arms}) < len(arms):
        raise InputError("two arms have one name", got=", ".join(arm.name for arm in arms))
    steps = {arm.name: arm.step(model) for arm in arms}
    engine = Inline() if workers == 1 else Local(workers)
    shared = {arm.name: replace(arm, start=None) for arm in arms}
    carry_out(list(steps.values()), engine, results, shared, work)
    return {arm.name: predictions_of(arm, steps[arm.name], results) for arm in arms}


def predictions_of(arm: Arm, step: Step, results: Results) -> dict[str, Predictions]:
    """What the model of an arm said about each of its test sets, once its step is done."""
    folder = results.folder(step.key)
    return {name: read_predictions(_file(folder, name), chosen.taken()) for name, chosen in arm.ask.items()}


def trainings_done(arms: Sequence[Arm], model: Model, results: Results) -> tuple[int, int]:
    """How many different trainings these arms are, and how many of them are done."""
    keys = {arm.step(model).key for arm in arms}
    return len(keys), sum(map(results.has, keys))


def cost_of(arms: Sequence[Arm], model: Model, results: Results | None = None) -> Estimate:
    """What these arms cost, the speed tried now."""
    different = {arm.step(model).key: arm for arm in arms}
    left = [arm for key, arm in different.items() if results is None or not results.has(key)]
    texts = sum(len(arm.train) for arm in left) * model.epochs
    asked = sum(len(chosen) for arm in left for chosen in arm.ask.values())
    fast = speed(model, left[0].train.taken()) if left else None
    seconds = None if fast is None else (texts + asked / FASTER) / fast
    return Estimate(len(different), len(different) - len(left), texts, fast, seconds)


def removals(asked: int | None, model: Model | None, seeds: int, costly: int) -> int:
    """Random removals for each seed: as many as were asked for, or 20 in all, and `costly` for a transformer."""
    if asked is not None:
        return asked
    return costly if model is not None and model.is_transformer else -(-ENOUGH // seeds)


@dataclass(frozen=True, eq=False)
class Level:
    """A condition whose score is measured."""

    runs: Condition
    tags: Mapping[str, Any] = field(default_factory=dict)
    slice: str = "all"
    singly: bool = False
    """Whether, of several, the score of each training is told too, without an interval, under the tag `seed`."""

    def measured(self, metric: str, seed: int = 42) -> list[Measurement]:
        """`METRIC`, and `standard_error.METRIC` over seeds; without runs, because no row is left, it has no value."""
        if not self.runs:
            return [Measurement(metric, None, 0, slice=self.slice, tags=self.tags)]
        apart = [single(run, metric, self.tags) for run in self.runs] if self.singly and len(self.runs) > 1 else []
        rows = [*apart, *level(self.runs, metric, tags=self.tags, seed=seed)]
        return [replace(row, slice=self.slice) for row in rows]


@dataclass(frozen=True, eq=False)
class Contrast:
    """Two conditions that are compared, and how."""

    reference: Condition
    compared: Condition
    tags: Mapping[str, Any] = field(default_factory=dict)
    slice: str = "all"
    sign: str = "fall"
    """`fall`: the reference less what is compared with it, above zero is worse; `difference`: the other way round."""
    removals: bool = False
    """Whether the arms of the reference, or of what is compared, each lack other random rows: the interval then draws
    test rows and adds the spread between these removals; else it is over seeds and test rows."""

    def measured(self, metric: str, seed: int = 42) -> list[Measurement]:
        """`fall.METRIC` or `difference.METRIC`; without runs, because no row is left, it has no value."""
        name = f"{self.sign}.{metric}"
        if not self.reference or not self.compared:
            return [Measurement(name, None, 0, slice=self.slice, tags=self.tags)]
        compare = cost_of_removal if self.removals else fall
        row = compare(self.reference, self.compared, metric, tags=self.tags, seed=seed)
        return [replace(row if self.sign == "fall" else turned(row), metric=name, slice=self.slice)]


def measured(measures: Sequence[Level | Contrast], metrics: Sequence[str], seed: int = 42) -> list[Measurement]:
    """Every level and contrast, in this order, metric by metric."""
    return [row for metric in metrics for measure in measures for row in measure.measured(metric, seed)]


def single(run: Run, metric: str, tags: Mapping[str, Any]) -> Measurement:
    """The score of one training, without an interval."""
    value = run.score(metric_of(metric))
    return Measurement(metric, value, len(run.gold) if value is not None else 0, tags={**tags, "seed": run.seed})


def relabelled(data: Dataset, renamed: Mapping[str, str], label_names: Sequence[str]) -> Dataset:
    """`data` under `label_names`, as `renamed` says {theirs: ours}; rows whose label becomes none of ours are left out.

    A label that has the name of one of ours needs no saying; several of theirs may become one of ours.
    """
    ours = [renamed.get(name, name) for name in data.label_names]
    codes = np.array([label_names.index(name) if name in label_names else -1 for name in ours], np.int32)[data.labels]
    made = under_labels(data, label_names, np.maximum(codes, 0))
    return made if (codes >= 0).all() else made.take(np.flatnonzero(codes >= 0))


def under_labels(data: Dataset, label_names: Sequence[str], codes: Codes | None = None) -> Dataset:
    """`data` under other labels; without `codes` they mean nothing: a model that knows them can be asked about it."""
    codes = np.zeros(len(data), np.int32) if codes is None else codes
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(label_names), pa.string()))
    table = data.table.set_column(2, "label", pa.chunked_array([column]))
    return replace(data, table=table, label_names=tuple(label_names))


def in_order(data: Dataset, rows: Rows) -> Rows:
    """These rows in the order of their ids, so that the order of the file decides nothing."""
    return rows[pc.sort_indices(data.ids.take(rows)).to_numpy()]


def with_dev(data: Dataset, split: Split, seed: int) -> tuple[Rows, Rows]:
    """The rows of train and of dev, in the order of their ids; a tenth of train is drawn where a split has no dev."""
    train, dev = split.rows("train"), split.rows("dev")
    if not len(dev):
        drawn, _ = random_rows(data.take(train), "dev", DEV, seed=seed)
        train, dev = train[~drawn], train[drawn]
    return in_order(data, train), in_order(data, dev)


def refuse_without_parts(data: Dataset, split: Split) -> Split:
    """The split in the order of the data; refuses one without training or test rows."""
    split = split.of(data)
    lacking = [part for part in ("train", "test") if not len(split.rows(part))]
    if lacking:
        raise InputError(f"the split {split.name!r} has no {' and no '.join(lacking)} rows", got=str(split.sizes))
    return split


def train(here: Workspace) -> None:
    """Train one arm and write down what its model says about each test set."""
    arm: Arm = here.shared["arm"]
    with measure_cost(idle_seconds=0) as training:
        model = _fitted(here, arm)
    if arm.kept:
        if not hasattr(model, "save"):
            raise InputError("the model cannot be kept to start from", expected="a classifier with save(folder)")
        model.save(here.folder / MODEL)
    with measure_cost(idle_seconds=0) as answering:
        for name, chosen in arm.ask.items():
            predictions = inference.predict(model, chosen.taken(), work=f"ask about {name}")
            write_predictions(predictions, _file(here.folder, name))
    write_costs(here.folder, (len(arm.train), training), (sum(map(len, arm.ask.values())), answering))


def _fitted(here: Workspace, arm: Arm) -> Any:
    described, rows = here.settings["model"], (arm.train.taken(), arm.dev.taken())
    if "encoder" in here.needs:
        params = {**described["params"], "encoder": str(here.needs["encoder"] / MODEL)}
        described = {"model": "transformer", "params": params}
    if "start" not in here.needs:
        return fit(described, *rows, arm.seed, here.scratch)
    start = open_model(here.needs["start"] / MODEL, **here.settings.get("opening", {}))
    return fit(described, *rows, arm.seed, here.scratch, start=start)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{file_name(name)}.parquet"
