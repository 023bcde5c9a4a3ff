"""What the models of a run said, read from its files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unseen.evaluation.measurements import aligned
from unseen.functional.holdout import TASK, HoldoutPlan
from unseen.functional.suite import template_codes
from unseen.runs.learning.materials import LearningMaterials, Lessons
from unseen.runs.learning.work import OF_ELSEWHERE, OF_SUITE, OF_TASK
from unseen.store import read_predictions
from unseen.store.results import Results
from unseen.types import Dataset, Predictions
from unseen.types.arrays import Rows

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LearningAnswers:
    """The predictions of every model, found by what it was trained on."""

    materials: LearningMaterials
    before: Path
    """Folder of the answers of the task model."""
    after: Mapping[tuple[str, str], Path]
    """Folders of those trained on the suite, by configuration and plan."""

    @classmethod
    def of(cls, lessons: Lessons, results: Results) -> LearningAnswers:
        """Those of finished steps."""
        after = {name: results.folder(step.key) for name, step in lessons.after.items()}
        return cls(lessons.materials, results.folder(lessons.before.key), after)

    @cached_property
    def configurations(self) -> list[str]:
        """What models were trained on, the task alone first."""
        return list(dict.fromkeys([TASK, *(configuration for configuration, _ in self.after)]))

    @cached_property
    def units(self) -> Rows:
        """The template of each case, as a number."""
        return template_codes(self.materials.suite)

    @cached_property
    def _task_model(self) -> Floats:
        rows = np.arange(len(self.materials.suite))
        said = aligned(self.materials.suite, self._read(self.before / OF_SUITE, self.materials.suite), rows)
        return _right(self.materials.suite, said, rows)

    def right(self, configuration: str, plan: HoldoutPlan, rows: Rows) -> Floats:
        """1 or 0 for each of these test cases of a plan: whether the model was right."""
        if configuration == TASK:
            return self._task_model[rows]
        suite = self.materials.suite
        found = self._read(self.after[configuration, plan.name] / OF_SUITE, suite)
        return _right(suite, aligned(suite, found, rows), rows)

    def of_task(self, configuration: str) -> Predictions | None:
        """What was said about the task; None when no model of the scheme `all` was trained."""
        return self._beside(configuration, OF_TASK, self.materials.task)

    def of_elsewhere(self, configuration: str) -> Predictions | None:
        """What was said about the data from elsewhere, if any."""
        data = self.materials.elsewhere
        return None if data is None else self._beside(configuration, OF_ELSEWHERE, data)

    def _beside(self, configuration: str, file: str, data: Dataset) -> Predictions | None:
        folder = self.before if configuration == TASK else self.after.get((configuration, "all"))
        return None if folder is None else self._read(folder / file, data)

    @staticmethod
    def _read(path: Path, data: Dataset) -> Predictions:
        return read_predictions(path, data)


def _right(data: Dataset, said: Floats, rows: Rows) -> Floats:
    return (said.argmax(axis=1) == data.labels[rows]).astype(np.float64)
