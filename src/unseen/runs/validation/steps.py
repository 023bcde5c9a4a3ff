"""The trainings of a validation study as steps, and their answers read back.

A learner is a pipeline or a model. Each of its trainings is a step of its own; only the leaking form of a pipeline
does all its folds at once, because what it learns from all rows it learns once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.engines import Step
from unseen.naming import content_of_name
from unseen.runs.experiment import Arm, answers
from unseen.runs.validation.definition import (
    FOREIGN,
    FOREIGN_ENRICHED,
    PUBLISHED,
    RANDOM,
    PublishedPipeline,
    Validation,
)
from unseen.runs.validation.folds import Fold, Rows, divided
from unseen.runs.validation.materials import ValidationMaterials
from unseen.runs.validation.work import PROBABILITIES, TESTED
from unseen.store.results import Results

POOL = "pool"
TEST = "test"


@dataclass(frozen=True, eq=False)
class ProtocolAnswers:
    """What a learner says under one protocol from one seed."""

    learner: str
    protocol: str
    seed: int
    rows: Rows
    """Of the pool; one that was copied before the split may be there several times."""
    probabilities: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Training:
    """One step, and whose it is."""

    learner: str
    protocol: str
    seed: int
    step: Step
    arm: Arm | None = None
    shared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Trainings:
    """All trainings of a study."""

    study: Validation
    materials: ValidationMaterials

    @cached_property
    def all(self) -> list[Training]:
        """Every training, learners in the order of the file."""
        return [
            training
            for learner in (*self.study.pipelines, *self.study.models)
            for protocol in self.protocols(learner)
            for seed in self.study.seeds
            for training in self._of(learner, protocol, seed)
        ]

    @property
    def steps(self) -> list[Step]:
        """Every step, each once."""
        return list({each.step.key: each.step for each in self.all}.values())

    @property
    def shared(self) -> dict[str, Any]:
        """What steps share in memory."""
        found: dict[str, Any] = {POOL: self.materials.pool}
        for each in self.all:
            found |= each.shared
        return found

    def protocols(self, learner: str) -> list[str]:
        """Those that a learner goes through."""
        return self.materials.protocols_of(learner)

    def answers(self, results: Results) -> list[ProtocolAnswers]:
        """The answers of all learners, protocols and seeds of which every fold is there."""
        found, done = [], {each.step.key for each in self.all if results.has(each.step.key)}
        said_by_models = self._said_by_models(results, done)
        groups: dict[tuple[str, str, int], list[Training]] = {}
        for each in self.all:
            groups.setdefault((each.learner, each.protocol, each.seed), []).append(each)
        for key, trainings in groups.items():
            if all(each.step.key in done for each in trainings):
                parts = [said_by_models.get(each.step.name) or self._read(each, results) for each in trainings]
                rows, said = (np.concatenate(each) for each in zip(*parts, strict=True))
                order = np.argsort(rows, kind="stable")
                found.append(ProtocolAnswers(*key, rows[order], said[order]))
        return found

    @cached_property
    def _folds(self) -> dict[tuple[str, int], tuple[Fold, ...]]:
        return {
            (protocol, seed): self.materials.folds(protocol, seed)
            for protocol in self.materials.protocols
            for seed in self.study.seeds
        }

    def _of(self, learner: str, protocol: str, seed: int) -> list[Training]:
        folds = self._folds[protocol, seed]
        if learner in self.study.models:
            return [self._arm(learner, protocol, seed, number, fold) for number, fold in enumerate(folds, start=1)]
        pipeline = self.study.pipelines[learner]
        if protocol == PUBLISHED:
            return [self._piped(pipeline, protocol, seed, "", folds)]
        return [
            self._piped(pipeline, protocol, seed, _numbered(number, folds), (fold,))
            for number, fold in enumerate(folds, start=1)
        ]

    def _piped(
        self, pipeline: PublishedPipeline, protocol: str, seed: int, fold: str, folds: Sequence[Fold]
    ) -> Training:
        leaking = protocol == PUBLISHED
        divides = leaking and pipeline.divides
        name = f"{protocol} seed {seed}{fold}"
        function = pipeline.leaking if leaking else pipeline.corrected
        settings = {
            "function": function, "content": content_of_name(function), "settings": dict(pipeline.settings),
            "rows": self.materials.key(tuple(folds)), "seed": seed,
            "test": pipeline.test or 1 / self.study.folds if divides else None,
        }  # fmt: skip
        step = Step(
            f"{pipeline.name} {name}", "unseen.runs.validation.work:ask", settings, {}, {"pool": POOL, "folds": name}
        )
        return Training(pipeline.name, protocol, seed, step, None, {name: tuple(folds)})

    def _arm(self, learner: str, protocol: str, seed: int, number: int, fold: Fold) -> Training:
        model, pool = self.study.models[learner], self.materials.pool
        units = None if protocol == RANDOM else self.materials.authors
        own = fold.train[np.isin(fold.train, self.materials.own)]
        added = fold.train[~np.isin(fold.train, self.materials.own)]
        train, dev = divided(own, pool.labels, units, seed)
        rows = np.sort(np.concatenate([train, added]))
        name = f"{learner} {protocol} seed {seed}"
        several = protocol not in (FOREIGN, FOREIGN_ENRICHED)
        arm = Arm(
            f"{name} fold {number}" if several else name,
            pool.take(rows), pool.take(dev), {TEST: pool.take(fold.test)}, seed,
        )  # fmt: skip
        return Training(learner, protocol, seed, arm.step(model), arm, {arm.name: arm})

    def _said_by_models(self, results: Results, done: set[str]) -> dict[str, tuple[Rows, npt.NDArray[np.float64]]]:
        """Rows and answers of every finished training of a model, by the name of its step."""
        found = {}
        for name, model in self.study.models.items():
            finished = {each.arm.name: each for each in self.all if each.arm and each.learner == name
                        and each.step.key in done}  # fmt: skip
            said = answers([each.arm for each in finished.values() if each.arm], model, results, work=f"read {name}")
            for arm, tests in said.items():
                rows = self._places(tests[TEST].ids.to_pylist())
                found[finished[arm].step.name] = rows, tests[TEST].probabilities
        return found

    @staticmethod
    def _read(training: Training, results: Results) -> tuple[Rows, npt.NDArray[np.float64]]:
        folder = results.folder(training.step.key)
        return np.load(folder / TESTED), np.load(folder / PROBABILITIES)

    def _places(self, ids: Sequence[str]) -> Rows:
        return np.array([self._row_of[each] for each in ids], np.intp)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.materials.pool.ids.to_pylist())}


def _numbered(number: int, folds: Sequence[Fold]) -> str:
    return f" fold {number}" if len(folds) > 1 else ""
