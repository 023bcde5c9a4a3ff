"""What a study is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unseen.evaluation.gates import Gate
from unseen.runs.source import DataSettings
from unseen.runs.spaces import Model, Space
from unseen.runs.training_steps import BASELINE

OWN_MODEL = "own"
"""Trained on a split: the model whose space it cuts."""


@dataclass(frozen=True)
class Data(DataSettings):
    """One dataset of a study: what `unseen.load` takes, and what is wanted of it."""

    name: str
    source: str
    load: Mapping[str, Any] = field(default_factory=dict)
    varied: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Splits:
    """One way of splitting, from several seeds."""

    name: str
    use: str
    seeds: tuple[int, ...]
    test: float = 0.1
    dev: float = 0.1
    knobs: Mapping[str, Any] = field(default_factory=dict)
    varied: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A crossing of what the study has defined."""

    name: str
    data: tuple[str, ...]
    spaces: tuple[str, ...]
    splits: tuple[str, ...]
    models: tuple[str, ...] = (OWN_MODEL,)
    """Trained on every split; `own` is the model of the split's space."""


@dataclass(frozen=True)
class Study:
    """A study file, checked."""

    path: Path
    title: str
    seed: int
    data: Mapping[str, Data]
    models: Mapping[str, Model]
    spaces: Mapping[str, Space]
    splits: Mapping[str, Splits]
    seeds: tuple[int, ...]
    """Of the trainings."""
    pair: bool
    """Where there are as many seeds as splits of one kind, each split has a seed of its own."""
    metric: str
    findings: bool
    seen_folds: int | None
    """Folds of every hard test part that are scored again with the rest of it in training; None: as in a stress run."""
    experiments: tuple[Experiment, ...]
    gates: tuple[Gate, ...]
    variants: Mapping[str, Mapping[str, Any]]
    """What was varied, by the name of the data, model or split that came of it."""

    @property
    def baseline(self) -> Splits:
        """The random splits that others are compared with."""
        return next(each for each in self.splits.values() if each.use == BASELINE)
