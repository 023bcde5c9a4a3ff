"""What is done in the steps of learning from a suite.

Each function takes a Workspace and leaves files: `model/`, and predictions for cases of the suite, for the rows of the
task that nothing is trained on, and for the data from elsewhere.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from unseen import inference
from unseen.engines import Workspace
from unseen.errors import InputError
from unseen.models import open_model
from unseen.naming import recipe_of
from unseen.runs.learning.materials import SHARED, LearningMaterials
from unseen.store import write_predictions
from unseen.types import Dataset

MODEL = "model"
OF_SUITE, OF_TASK, OF_ELSEWHERE = "suite.parquet", "task.parquet", "elsewhere.parquet"


def train_on_task(here: Workspace) -> None:
    """Train on the task data and keep the model."""
    given: LearningMaterials = here.shared[SHARED]
    model = _fit(here, given.of_task("train"), given.of_task("dev"))
    if not hasattr(model, "save"):
        raise InputError("the model of the task cannot be kept", expected="a classifier with save(folder)")
    model.save(here.folder / MODEL)


def ask_task_model(here: Workspace) -> None:
    """What the model of the task says about every case, and about the task."""
    given: LearningMaterials = here.shared[SHARED]
    model = _task_model(here)
    write_predictions(inference.predict(model, given.suite), here.folder / OF_SUITE)
    _ask_beside(here, model)


def train_on_suite(here: Workspace) -> None:
    """Train on the cases of a plan, from the beginning or from the task model, and predict its test cases."""
    given: LearningMaterials = here.shared[SHARED]
    plan = given.plans[here.settings["plan"]]
    start = _task_model(here) if "start" in here.needs else None
    model = _fit(here, given.suite.take(plan.train), given.suite.take(plan.dev), start)
    write_predictions(inference.predict(model, given.suite, plan.test), here.folder / OF_SUITE)
    if plan.scheme == "all":
        _ask_beside(here, model)


def _task_model(here: Workspace) -> Any:
    return open_model(here.needs["start"] / MODEL, **here.settings.get("opening", {}))


def _fit(here: Workspace, train: Dataset, dev: Dataset, start: Any = None) -> Any:
    said = here.settings["model"]
    recipe = recipe_of(said["model"], **said["params"])
    given = {} if start is None else {"start": start}
    if "scratch" in inspect.signature(recipe.fit).parameters:
        given["scratch"] = here.scratch
    return recipe.fit(train, dev, here.settings["seed"], **given)


def _ask_beside(here: Workspace, model: Any) -> None:
    given: LearningMaterials = here.shared[SHARED]
    write_predictions(inference.predict(model, given.task, given.judged), here.folder / OF_TASK)
    if given.elsewhere is not None:
        rows = np.arange(len(given.elsewhere))
        write_predictions(inference.predict(model, given.elsewhere, rows), here.folder / OF_ELSEWHERE)
