"""What learning from a suite works with: the suite, its plans, and the task that models learn first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen import api
from unseen.engines import Step
from unseen.functional.holdout import BOTH, SUITE, TASK, HoldoutPlan
from unseen.runs.spaces import Model
from unseen.store.results import key_of
from unseen.types import Dataset, Split

CONFIGURATIONS = (TASK, SUITE, BOTH)
"""What a model is trained on."""
WORK = "unseen.runs.learning.work"
SHARED = "materials"


@dataclass(frozen=True, eq=False)
class LearningMaterials:
    """The data of a run; the same labels everywhere."""

    suite: Dataset
    task: Dataset
    parts: Split
    """Train, dev and test of the task data."""
    plans: Mapping[str, HoldoutPlan]
    """By name."""
    elsewhere: Dataset | None = None
    """Other data of the same task, which only tests."""

    def of_task(self, part: str) -> Dataset:
        """One part of the task data."""
        return self.task.take(self.parts.rows(part))

    @cached_property
    def judged(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Rows of the task data that nothing is trained on."""
        return np.sort(np.concatenate([self.parts.rows("dev"), self.parts.rows("test")]))

    def schemes(self) -> dict[str, list[HoldoutPlan]]:
        """Plans by scheme."""
        found: dict[str, list[HoldoutPlan]] = {}
        for plan in self.plans.values():
            found.setdefault(plan.scheme, []).append(plan)
        return found


def parts_of(task: Dataset, seed: int) -> Split:
    """80 % train, 10 % dev, 10 % test, with the class mix of all."""
    tenth = len(task) // 10
    return api.split(task, "random", test=max(1, tenth), dev=max(1, tenth), seed=seed, name="task")


def cases_in_task(suite: Dataset, task: Dataset) -> int:
    """How many cases of the suite stand word for word in the task data."""
    return int(pc.sum(pc.is_in(suite.texts, value_set=task.texts.combine_chunks())).as_py() or 0)


@dataclass(frozen=True, eq=False)
class Lessons:
    """The steps of a run."""

    materials: LearningMaterials
    model: Model
    configurations: Sequence[str]
    seed: int

    @cached_property
    def task_model(self) -> Step:
        """Train on the task data alone."""
        rows = key_of("parts", [self.materials.parts.rows(part).tolist() for part in ("train", "dev")])
        settings = {"task": _basis(self.materials.task), "rows": rows, "model": self.model.described, "seed": self.seed}
        return self._step("train on the task", "train_on_task", settings, {})

    @cached_property
    def before(self) -> Step:
        """Ask the task model about every case of the suite, and about the task."""
        settings = {"suite": _basis(self.materials.suite)} | self._asked_beside | self.model.opening
        return self._step("ask the task model", "ask_task_model", settings, {"start": self.task_model})

    @cached_property
    def after(self) -> dict[tuple[str, str], Step]:
        """Trainings on the suite by configuration and plan."""
        return {
            (configuration, name): self._after(configuration, plan)
            for configuration in self.configurations
            if configuration != TASK
            for name, plan in self.materials.plans.items()
        }

    def _after(self, configuration: str, plan: HoldoutPlan) -> Step:
        settings = (
            {
                "suite": _basis(self.materials.suite),
                "plan": plan.name,
                "rows": key_of("plan", [rows.tolist() for rows in plan.parts.values()]),
                "model": self.model.described,
                "seed": self.seed,
            }
            | (self._asked_beside if plan.scheme == "all" else {})
            | self.model.opening
        )
        needs = {"start": self.task_model} if configuration == BOTH else {}
        return self._step(f"{configuration}: {plan.name}", "train_on_suite", settings, needs)

    @cached_property
    def _asked_beside(self) -> dict[str, Any]:
        """The data besides the suite that a model is asked about."""
        found = {"judged": [_basis(self.materials.task), key_of("judged", self.materials.judged.tolist())]}
        if self.materials.elsewhere is not None:
            found["elsewhere"] = [_basis(self.materials.elsewhere)]
        return found

    def _step(self, name: str, work: str, settings: Mapping[str, Any], needs: Mapping[str, Step]) -> Step:
        uses_gpu = self.model.is_transformer
        return Step(name, f"{WORK}:{work}", settings, needs, {SHARED: SHARED}, uses_gpu=uses_gpu)

    @property
    def trainings(self) -> list[Step]:
        """Every training."""
        return [self.task_model, *self.after.values()]

    @property
    def steps(self) -> list[Step]:
        """All steps, needs first."""
        return [self.task_model, self.before, *self.after.values()]


def _basis(data: Dataset) -> dict[str, str]:
    return {"data": data.fingerprint, "order": data.order}
