"""What a run will cost: how fast this machine trains and measures, tried now on a few texts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

import numpy as np

from unseen.errors import UnseenError
from unseen.evaluation import measure
from unseen.progress import reporting
from unseen.registry import VERSION
from unseen.runs.spaces import Model, fit
from unseen.seeding import generator
from unseen.training import RECIPES
from unseen.types import Dataset, Origin, Predictions

FASTER = 3.0
"""How many times faster predicting is than training."""
SAMPLE = 1_000
"""Texts on which a light recipe is tried."""
WITNESS = 5
"""How many trainings of `logistic`, which tries four values of C, the witness of label noise is worth: 25 of one
value, on four fifths of the rows or on two thirds of these."""
BESIDES = (5.0, 0.013)
"""Seconds of a run, and of each of its rows, that go neither into training nor into scores: splits, map, leaks,
properties and what these compile (processor seconds of real runs: 6 for 120 rows, 47 for 3,000, 138 for 10,010)."""


@dataclass(frozen=True)
class Estimate:
    """What trainings cost that are not done yet."""

    trainings: int
    done: int
    """Trainings that are done already."""
    texts: int
    """Texts that go through the model in training, epochs counted, at most."""
    texts_per_second: float | None
    """Of one training, measured now; None for recipes of the user's own, which are not tried."""
    seconds: float | None
    """All that is left, about; training often stops early."""
    counted: ClassVar[str] = "Training"
    """What the seconds are of."""


def speed(model: Model, data: Dataset) -> float | None:
    """Texts per second in training, epochs counted: a few batches of a transformer, a small training of a recipe.

    More texts have more words and may take more steps, many classes fewer: it is a rough guess. None for a recipe of
    the user's own.
    """
    if model.is_transformer:
        return float(model.recipe().speed(data))
    if VERSION.sub("", model.use) not in RECIPES:
        return None
    dev = _some(data, SAMPLE // 10)

    def tried(train: Dataset) -> float:
        with TemporaryDirectory() as scratch:
            return _timed(lambda: fit({"model": model.use, "params": model.params}, train, dev, 0, Path(scratch)))

    tried(dev)  # the first training loads and compiles what it needs
    train = _some(data, SAMPLE)
    seconds = tried(train)
    return len(train) * model.epochs / seconds if seconds else None


def label_noise_seconds(data: Dataset, rows: int) -> float:
    """How long the witness of label noise takes for so many rows, by the speed of `logistic`, which it is made of."""
    fast = speed(Model("logistic"), data)
    return 0.0 if fast is None else WITNESS * rows / fast


def scoring_seconds(data: Dataset, rows: int, metrics: Sequence[str]) -> float:
    """How long these metrics of so many rows take, with their intervals: tried on made-up answers."""
    some = _some(data, min(rows, SAMPLE))
    luck = generator(0, "cost").random((len(some), len(data.label_names)))
    made_up = Predictions(some.ids, luck / luck.sum(axis=1, keepdims=True), data.label_names, Origin("made up", {}))
    return rows / len(some) * _timed(lambda: measure(some, made_up, np.arange(len(some)), metrics))


def besides_seconds(rows: int) -> float:
    """How long a run takes for all that is neither training nor scoring: a rough guess by the number of its rows."""
    return BESIDES[0] + BESIDES[1] * rows


def _some(data: Dataset, size: int) -> Dataset:
    return data.take(generator(0, "cost").permutation(len(data))[:size])


def _timed(work: Callable[[], object]) -> float:
    """Seconds of some work; zero where so few texts do not allow it, those of a rare label for instance."""
    begun = time.perf_counter()
    with warnings.catch_warnings(), reporting(None), suppress(UnseenError):
        warnings.simplefilter("ignore")
        work()
        return time.perf_counter() - begun
    return 0.0
