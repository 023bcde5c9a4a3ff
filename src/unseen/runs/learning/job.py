"""Learning from a suite, from data to report."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen import api
from unseen.engines import Inline, Local
from unseen.engines.steps import carry_out, timings
from unseen.errors import InputError, UnknownNameError, UnseenWarning
from unseen.evaluation.gates import Gate
from unseen.functional.holdout import BOTH, FOLDED, SCHEMES, SUITE, plans, possible_schemes
from unseen.functional.suite import as_suite
from unseen.functional.tables import load_suite
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.learning.materials import CONFIGURATIONS, SHARED, LearningMaterials, Lessons, parts_of
from unseen.runs.learning.publishing import file_name, publish
from unseen.runs.learning.relabelling import refuse_unknown, refuse_unseen_labels, relabelled
from unseen.runs.source import by_id
from unseen.runs.spaces import Model
from unseen.store.run_folder import RunFolder
from unseen.training.warm_start import require_warm_start
from unseen.types import Dataset

FOLDS = 5


@dataclass(frozen=True)
class LearningPlan:
    """What a run will do."""

    cases: int
    texts: int
    """Of the task."""
    schemes: Mapping[str, int]
    """Plans by scheme."""
    trainings: int
    done: int


@dataclass(frozen=True, kw_only=True)
class LearningSettings:
    """How a suite is learnt from."""

    model: Model
    schemes: tuple[str, ...] | None
    """None: all that are possible."""
    configurations: tuple[str, ...]
    strict: bool
    folds: int | None
    seed: int
    texts: bool

    @property
    def number_of_folds(self) -> int:
        """Folds of `template` and `pair`."""
        return FOLDS if self.folds is None else self.folds


def learn_from_suite(
    suite: Dataset | str | Path,
    task: Dataset | str | Path,
    *,
    model: str = "neural",
    params: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    elsewhere: Dataset | None = None,
    schemes: Sequence[str] | None = None,
    configurations: Sequence[str] = CONFIGURATIONS,
    strict: bool = True,
    folds: int | None = None,
    seed: int = 42,
    out: str | Path = "out",
    workers: int = 1,
    texts: bool = False,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[LearningPlan], None] | None = None,
) -> Result:
    """Train on the cases of a suite by the plans of each scheme, and measure what of it is more than passing the tests.

    `labels` says what the labels of the task data (and of `elsewhere`, which only tests) are in the suite,
    {theirs: ours}. `configurations` are what models are trained on: task, suite, task then suite; the task model is
    always trained, for all others are measured against it. `strict=False` pools validation as published. Without
    `schemes`, all that the suite has the attributes for. Called again with the same folder, it goes on where it
    stopped.
    """
    wanted = _settled(model, params, configurations, strict, folds, seed, texts, schemes)
    materials = _materials(suite, task, elsewhere, dict(labels or {}), wanted)
    lessons = Lessons(materials, wanted.model, wanted.configurations, seed)
    engine = Inline() if workers == 1 else Local(workers)

    def work(folder: RunFolder | None) -> Output:
        assert folder is not None
        if announce is not None:
            announce(_plan(lessons, folder))
        carry_out(lessons.steps, engine, folder.results, {SHARED: materials}, "trainings")
        rows = publish(lessons, folder, wanted.seed, wanted.texts)
        return Output(rows, about={"timings": timings(lessons.steps, folder.results)})

    about = _about(lessons, wanted, dict(labels or {}))
    return carry_through("learning", about, work, out=out, command=command, gates=gates)


def _settled(
    model: str, params: Mapping[str, Any] | None, configurations: Sequence[str], strict: bool, folds: int | None,
    seed: int, texts: bool, schemes: Sequence[str] | None,
) -> LearningSettings:  # fmt: skip
    """What is wanted, after refusing what could only fail later."""
    for kind, given, known in (("configuration", configurations, CONFIGURATIONS), ("scheme", schemes or (), SCHEMES)):
        for name in given:
            if name not in known:
                raise UnknownNameError.of(kind, name, known)
    if not {SUITE, BOTH} & {*configurations}:
        raise InputError("nothing is trained on the suite", expected=f"{SUITE!r} or {BOTH!r} among configurations")
    chosen = Model(model, dict(params or {}))
    recipe = chosen.recipe()
    if BOTH in configurations:
        require_warm_start(recipe, f"the model {model!r}")
    return LearningSettings(
        model=chosen, schemes=tuple(each for each in SCHEMES if each in schemes) if schemes else None,
        configurations=tuple(each for each in CONFIGURATIONS if each in configurations),
        strict=strict, folds=folds, seed=seed, texts=texts,
    )  # fmt: skip


def _materials(
    suite: Dataset | str | Path, task: Dataset | str | Path, elsewhere: Dataset | None, labels: dict[str, str],
    wanted: LearningSettings,
) -> LearningMaterials:  # fmt: skip
    cases = _cases(as_suite(suite) if isinstance(suite, Dataset) else load_suite(suite))
    data = task if isinstance(task, Dataset) else api.load(str(task))
    refuse_unknown(labels, *(each for each in (data, elsewhere) if each is not None))
    data = by_id(relabelled(data, labels, cases.label_names))
    parts = parts_of(data, wanted.seed)
    refuse_unseen_labels(data, parts.rows("train"))
    other = None if elsewhere is None else by_id(relabelled(elsewhere, labels, cases.label_names))
    schemes = wanted.schemes or possible_schemes(cases)
    if wanted.folds is not None and not {*FOLDED} & {*schemes}:
        raise InputError("folds has no effect on these schemes", expected=f"one of {', '.join(FOLDED)} among them")
    options: dict[str, Any] = {
        "strict": wanted.strict,
        "folds": wanted.number_of_folds,
        "seed": wanted.seed,
    }
    found = [plan for scheme in schemes for plan in plans(cases, scheme, **options)]
    return LearningMaterials(cases, data, parts, {plan.name: plan for plan in found}, other)


def _cases(suite: Dataset) -> Dataset:
    """The cases whose label is right or wrong by itself, in the order of their ids."""
    if "kind" in suite.attributes:
        judged = pc.equal(suite.attribute("kind").fill_null("functional"), "functional").to_numpy(zero_copy_only=False)
        if not judged.all():
            warnings.warn(
                f"{int((~judged).sum())} invariance and directional cases are left out: training needs labels",
                UnseenWarning,
                stacklevel=2,
            )
            suite = suite.take(np.flatnonzero(judged))
    return by_id(suite)


def _plan(lessons: Lessons, folder: RunFolder) -> LearningPlan:
    trainings = {step.key for step in lessons.trainings}
    done = sum(folder.results.has(key) for key in trainings)
    schemes = {scheme: len(found) for scheme, found in lessons.materials.schemes().items()}
    return LearningPlan(len(lessons.materials.suite), len(lessons.materials.task), schemes, len(trainings), done)


def _about(lessons: Lessons, wanted: LearningSettings, labels: Mapping[str, str]) -> dict[str, Any]:
    given = lessons.materials
    data = {"suite": given.suite, "task": given.task} | (
        {} if given.elsewhere is None else {"elsewhere": given.elsewhere}
    )
    return {
        "model": wanted.model.use,
        "settings": {
            "metric": "accuracy", "params": dict(wanted.model.params), "schemes": list(given.schemes()),
            "configurations": wanted.configurations, "strict": wanted.strict, "folds": wanted.number_of_folds,
            "seed": wanted.seed, "texts": wanted.texts, "labels": dict(labels),
        },
        "datasets": {role: described_data(each) for role, each in data.items()},
        "task_parts": given.parts.sizes,
        "plans": {
            name: {"file": file_name(given, name)} | {part: len(rows) for part, rows in plan.parts.items()}
            for name, plan in given.plans.items()
        },
    }  # fmt: skip
