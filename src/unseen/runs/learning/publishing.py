"""The files of a run of learning from a suite, where people look for them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np

from unseen.functional.holdout import leaks
from unseen.runs.learning.answers import LearningAnswers
from unseen.runs.learning.beside import Changes, task_scores
from unseen.runs.learning.materials import LearningMaterials, Lessons, cases_in_task
from unseen.runs.learning.scores import suite_scores
from unseen.runs.learning.work import OF_ELSEWHERE, OF_SUITE, OF_TASK
from unseen.store.files import atomic, csv_rows, harmless
from unseen.store.run_folder import RunFolder
from unseen.types import Measurement


def publish(lessons: Lessons, folder: RunFolder, seed: int, texts: bool) -> list[Measurement]:
    """Put predictions, plans and numbers where people look for them."""
    given = lessons.materials
    _publish_predictions(lessons, folder)
    _write_plans(given, folder / "plans.csv")
    answers = LearningAnswers.of(lessons, folder.results)
    rows = suite_scores(answers, seed) + task_scores(answers, seed)
    changes = Changes(answers)
    (folder / "changes.csv").unlink(missing_ok=True)
    if changes.known:
        rows += changes.means(seed)
        changes.write(folder / "changes.csv", texts)
    for found in given.schemes().values():
        rows += leaks(given.suite, found)
    repeated = cases_in_task(given.suite, given.task) / len(given.suite)
    rows.append(Measurement("leak.task_text", repeated, len(given.suite), tags={"part": "suite"}))
    return rows


def _publish_predictions(lessons: Lessons, folder: RunFolder) -> None:
    shutil.rmtree(folder / "predictions", ignore_errors=True)  # what other settings left
    for configuration, name, key in _models(lessons):
        for file in (OF_SUITE, OF_TASK, OF_ELSEWHERE):
            folder.publish(key, file, f"predictions/{configuration}/{name}.{file}")


def _models(lessons: Lessons) -> list[tuple[str, str, str]]:
    """Configuration and plan, as parts of file names, and key of every model that was asked."""
    numbers = {name: file_name(lessons.materials, name) for name in lessons.materials.plans}
    after = [(each.replace(" ", "-"), numbers[plan], step.key) for (each, plan), step in lessons.after.items()]
    return [("task", "all", lessons.before.key), *after]


def file_name(given: LearningMaterials, plan: str) -> str:
    """`all`, or the scheme and the number of the plan in it: values may hold what no file name can."""
    scheme = given.plans[plan].scheme
    return scheme if scheme == "all" else f"{scheme}-{[*given.schemes()[scheme]].index(given.plans[plan]) + 1:02}"


def _write_plans(given: LearningMaterials, path: Path) -> None:
    """One line per case, one column per plan: its part in it."""
    columns = []
    for plan in given.plans.values():
        part = np.full(len(given.suite), "", dtype=object)
        for name, rows in plan.parts.items():
            part[rows] = name
        columns.append(part.tolist())
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(["id", *map(harmless, given.plans)])
        for name, *parts in zip(given.suite.ids.to_pylist(), *columns, strict=True):
            write_row([harmless(name), *parts])
