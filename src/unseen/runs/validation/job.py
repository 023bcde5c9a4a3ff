"""A validation study carried out: its plan, its steps on an engine, its numbers in a run folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.progress import track
from unseen.roles import Engine
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.run import StudyPlan
from unseen.runs.validation.disjointness import FoldSides
from unseen.runs.validation.file import read_validation
from unseen.runs.validation.materials import load_materials
from unseen.runs.validation.scores import measurements
from unseen.runs.validation.steps import ProtocolAnswers, Trainings
from unseen.store import atomic
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding


def plan_validation(
    path: str | Path, *, store: str | Path, trust: bool = False
) -> tuple[StudyPlan, list[tuple[str, bool]]]:
    """What a validation study would do, and its steps with whether each is done; nothing is written."""
    trainings, results = _trainings(path, trust), Results(store)
    return _plan(trainings, results), [(step.name, results.has(step.key)) for step in trainings.steps]


def run_validation(
    path: str | Path,
    *,
    engine: Engine,
    out: str | Path,
    store: str | Path,
    command: str | None = None,
    announce: Callable[[StudyPlan], None] | None = None,
    trust: bool = False,
) -> Result:
    """Carry out the validation study in a TOML file, as far as it can be, and write its numbers and page to `out`.

    Results of steps are kept in `store`; what is there already is not done again. What one learner cannot do is
    listed as a failure; the others are measured all the same. `trust` lets code run that the file names.
    """
    trainings, results = _trainings(path, trust), Results(store)

    def work(folder: RunFolder | None) -> Output:
        assert folder is not None
        if announce is not None:
            announce(_plan(trainings, results))
        begun = datetime.now(UTC)
        failures = _carry_out(trainings, engine, results)
        answers = trainings.answers(results)
        _publish(folder, trainings.materials.pool, answers)
        return Output(
            measurements(trainings.materials, answers),
            [*FoldSides(trainings.materials).findings(answers), *_failed(failures)],
            {
                "failures": failures, "timings": _timings(trainings, results),
                "wall_seconds": round((datetime.now(UTC) - begun).total_seconds(), 1),
            },
            trainings.materials.pool,
        )  # fmt: skip

    command = command or f"unseen run {trainings.study.path.name}"
    return carry_through("validation", _about(trainings), work, out=out, command=command, gates=trainings.study.gates)


def _trainings(path: str | Path, trust: bool) -> Trainings:
    study = read_validation(path, trust=trust)
    return Trainings(study, load_materials(study))


def _plan(trainings: Trainings, results: Results) -> StudyPlan:
    steps = trainings.steps
    done = sum(results.has(step.key) for step in steps)
    kinds = Counter("run a pipeline" if step.work.endswith(":ask") else "train a model" for step in steps)
    return StudyPlan(dict(kinds), done, len(steps), done, 0, None)


def _carry_out(trainings: Trainings, engine: Engine, results: Results) -> dict[str, str]:
    """Do every step that can be done; what failed, with what it said."""
    steps = trainings.steps
    open_ = sum(not results.has(step.key) for step in steps)
    ended = track(engine.run(steps, results, trainings.shared), "trainings", open_)
    return {each.step.name: f"{type(each.error).__name__}: {each.error}" for each in ended if each.error is not None}


def _publish(folder: RunFolder, data: Dataset, answers: Sequence[ProtocolAnswers]) -> None:
    """What every learner said under every protocol: id and a probability per label, a copied row several times."""
    for each in answers:
        columns = {"id": data.ids.take(pa.array(each.rows))}
        columns |= {name: each.probabilities[:, place] for place, name in enumerate(data.label_names)}
        name = file_name(f"{each.learner}.{each.protocol}-seed{each.seed}")
        with atomic(folder / "predictions" / f"{name}.parquet") as path:
            pq.write_table(pa.table(columns), path)


def _timings(trainings: Trainings, results: Results) -> list[dict[str, Any]]:
    """What each finished step took, and whose it was."""
    found = []
    for each in {training.step.key: training for training in trainings.all}.values():
        if results.has(each.step.key):
            record = results.record(each.step.key)
            took = {name: record.get(name) for name in ("seconds", "cpu_seconds")}
            found.append({"step": each.step.name, "learner": each.learner} | took)
    return found


def _failed(failures: Mapping[str, str]) -> list[Finding]:
    return [Finding("training", "fail", f"{name} failed: {said}", 1) for name, said in failures.items()]


def _about(trainings: Trainings) -> dict[str, Any]:
    study, materials = trainings.study, trainings.materials
    own = materials.pool.take(materials.own)
    return {
        "title": study.title,
        "settings": {
            "metric": study.metric, "seed": study.seed, "seeds": study.seeds, "folds": study.folds,
            "caps": study.caps, "author": study.author, "file": study.path.read_text(encoding="utf-8"),
        },
        "data": described_data(own) | {
            "authors": len(set(materials.authors[materials.own].tolist())), "added": len(materials.added),
            "foreign": len(materials.foreign),
        },
        "learners": {
            name: "pipeline" if name in study.pipelines else "model" for name in (*study.pipelines, *study.models)
        },
        "protocols": materials.protocols,
        "prices": study.prices,
        "models": {name: model.described for name, model in study.models.items()},
        "pipelines": {name: asdict(each) for name, each in study.pipelines.items()},
    }  # fmt: skip
