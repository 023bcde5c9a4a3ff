"""The arms of an experiment: one training each, on rows of somebody's choice, and its answers on others.

Whatever compares trainings on different rows (with and without leaks, one dataset and another) is made of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen import inference
from unseen.engines import Inline, Local, Step, Workspace
from unseen.errors import InputError
from unseen.store import read_predictions, write_predictions
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.temporary import temporary_folder
from unseen.study.graph import carry_out
from unseen.study.spaces import FASTER, Model
from unseen.study.work import fit
from unseen.types import Dataset, Predictions


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


@dataclass(frozen=True)
class Cost:
    """What trainings cost that are not done yet."""

    trainings: int
    done: int
    """Trainings that are done already."""
    texts: int
    """Texts that go through the model in training, epochs counted, at most."""
    texts_per_second: float | None
    """Measured now; None for recipes that take seconds."""
    seconds: float | None
    """At most: training often stops early."""


def cost_of(arms: Sequence[Arm], model: Model, results: Results | None = None) -> Cost:
    """What these arms cost, the speed measured on a few batches."""
    left = [arm for arm in arms if results is None or not results.has(arm.step(model).key)]
    texts = sum(_size(arm.train) for arm in left) * model.epochs
    asked = sum(_size(each) for arm in left for each in arm.ask.values())
    recipe = model.recipe()
    speed = recipe.speed(taken(left[0].train)) if left and hasattr(recipe, "speed") else None
    seconds = None if speed is None else (texts + asked / FASTER) / speed
    return Cost(len(arms), len(arms) - len(left), texts, speed, seconds)


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
