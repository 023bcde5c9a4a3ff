"""Validation studies: every learner trained under every protocol, scored, and priced from one protocol to the next.

A learner is a pipeline or a model. Each of its trainings is a step of its own; only the leaking form of a pipeline
does all its folds at once, because what it learns from all rows it learns once.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.duplicates import same_forms
from unseen.engines import Local, Step
from unseen.evaluation.falls import Run, level
from unseen.evaluation.gates import Gate
from unseen.naming import content_of_name
from unseen.roles import Engine
from unseen.runs.experiment import Arm, Chosen, Contrast, Level, measured, predictions_of, single
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.study import STORE, StudyPlan, carry_out_all, folder_of
from unseen.runs.validation.file import (
    ASK,
    AUTHORS,
    PUBLISHED,
    RANDOM,
    Fold,
    answers_of,
    capped_name,
    read_validation,
    thinned_name,
)
from unseen.runs.validation.protocols import ValidationMaterials, divided, load_materials
from unseen.seeding import generator
from unseen.store import atomic
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Finding, Measurement
from unseen.types.arrays import Codes, Floats, Rows
from unseen.types.numbers import percent

POOL, TEST = "pool", "test"
ONCE = "once"
"""Slice of the scores in which no row counts twice."""
AUTHORS_SHARED, COPIES_SHARED = "authors on both sides", "copies on both sides"
COMPARE = "Compare with folds of whole authors: the score on random rows also counts knowing the author."
SHOWN = 10
"""Ids that a finding names."""


def plan_validation(
    path: str | Path, *, store: str | Path = STORE, gates: Sequence[Gate | str] = (), trust: bool = False
) -> tuple[StudyPlan, list[tuple[str, bool]]]:
    """What a validation study would do, and its steps with whether each is done; nothing is written."""
    study = read_validation(path, gates=gates, trust=trust)
    trainings, results = Trainings(load_materials(study)), Results(store)
    return trainings.plan(results), [(step.name, results.has(step.key)) for step in trainings.steps]


def run_validation(
    path: str | Path,
    *,
    engine: Engine | None = None,
    out: str | Path | None = None,
    store: str | Path = STORE,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[StudyPlan], None] | None = None,
    trust: bool = False,
) -> Result:
    """Carry out the validation study in a file, as far as it can be, and write its numbers and page to `out`.

    Results of steps are kept in `store`; what is there already is not done again. `gates` are kept beside those of the
    file. What one learner cannot do is
    listed as a failure; the others are measured all the same. `trust` lets code run that the file names.
    """
    study, results = read_validation(path, gates=gates, trust=trust), Results(store)
    materials = load_materials(study)
    trainings, runner, out = Trainings(materials), engine or Local(), out or folder_of(path)

    def work(folder: RunFolder) -> Output:
        if announce is not None:
            announce(trainings.plan(results))
        begun = datetime.now(UTC)
        failures = carry_out_all(trainings.steps, runner, results, trainings.shared, "trainings")
        answers = trainings.answers(results)
        _publish(folder, materials, answers)
        failed = [Finding("training", "fail", f"{name} failed: {cause}", 1) for name, cause in failures.items()]
        return Output(
            measurements(materials, answers),
            [*side_findings(materials, answers), *failed],
            {
                "failures": failures, "timings": trainings.timings(results),
                "wall_seconds": round((datetime.now(UTC) - begun).total_seconds(), 1),
            },
            materials.pool,
        )  # fmt: skip

    command = command or f"unseen study run {study.path.name}"
    return carry_through("validation", _about(materials), work, out=out, command=command, gates=study.gates)


@dataclass(frozen=True, eq=False)
class ProtocolAnswers:
    """What a learner says under one protocol from one seed."""

    learner: str
    protocol: str
    seed: int
    rows: Rows
    """Of the pool; one that was copied before the split may be there several times."""
    probabilities: Floats

    @property
    def has_copies(self) -> bool:
        """Whether some row is tested several times."""
        return len(np.unique(self.rows)) < len(self.rows)


@dataclass(frozen=True, eq=False)
class Training:
    """One step, and what it shares in memory: the training of a model as an arm, or the folds of a pipeline."""

    learner: str
    protocol: str
    seed: int
    step: Step
    shared: Mapping[str, Any]
    test: Rows
    arm: Arm | None = None


@dataclass(frozen=True, eq=False)
class Trainings:
    """All trainings of a study."""

    materials: ValidationMaterials

    @cached_property
    def all(self) -> list[Training]:
        """Every training, learners in the order of the file."""
        study = self.materials.active
        folds = {(name, seed): self.materials.folds(name, seed) for name in study.protocols for seed in study.seeds}
        return [
            training
            for learner in study.learners
            for protocol in study.protocols_of(learner)
            for seed in study.seeds
            for training in self._of(learner, protocol, seed, folds[protocol, seed])
        ]

    @property
    def steps(self) -> list[Step]:
        """Every step, each once."""
        return list({training.step.key: training.step for training in self.all}.values())

    @property
    def shared(self) -> dict[str, Any]:
        """What steps share in memory."""
        shared = {POOL: self.materials.pool}
        for training in self.all:
            shared |= training.shared
        return shared

    def plan(self, results: Results) -> StudyPlan:
        """What is to be done."""
        done = sum(results.has(step.key) for step in self.steps)
        kinds = Counter("run a pipeline" if step.work == ASK else "train a model" for step in self.steps)
        return StudyPlan(dict(kinds), done, len(self.steps), done, 0, None)

    def timings(self, results: Results) -> list[dict[str, Any]]:
        """What each finished step took, and whose it was."""
        finished = {training.step.key: training for training in self.all if results.has(training.step.key)}
        return [
            {"step": training.step.name, "learner": training.learner}
            | {name: results.record(key).get(name) for name in ("seconds", "cpu_seconds")}
            for key, training in finished.items()
        ]

    def answers(self, results: Results) -> list[ProtocolAnswers]:
        """The answers of all learners, protocols and seeds of which every fold is there."""
        answers = []
        for key, group in groupby(self.all, key=attrgetter("learner", "protocol", "seed")):
            trainings = list(group)
            if all(results.has(training.step.key) for training in trainings):
                parts = [
                    answers_of(training.step.key, results)
                    if training.arm is None
                    else (training.test, predictions_of(training.arm, training.step, results)[TEST].probabilities)
                    for training in trainings
                ]
                rows, probabilities = (np.concatenate(part) for part in zip(*parts, strict=True))
                order = np.argsort(rows, kind="stable")
                answers.append(ProtocolAnswers(*key, rows[order], probabilities[order]))
        return answers

    def _of(self, learner: str, protocol: str, seed: int, folds: Sequence[Fold]) -> Iterator[Training]:
        name, train = f"{protocol} seed {seed}", self._piped if learner in self.materials.study.pipelines else self._arm
        if protocol == PUBLISHED or len(folds) == 1:
            yield train(learner, protocol, seed, name, folds)
            return
        for number, fold in enumerate(folds, start=1):
            yield train(learner, protocol, seed, f"{name} fold {number}", [fold])

    def _piped(self, learner: str, protocol: str, seed: int, name: str, folds: Sequence[Fold]) -> Training:
        study = self.materials.study
        pipeline, leaking = study.pipelines[learner], protocol == PUBLISHED
        function = pipeline.leaking if leaking else pipeline.corrected
        settings = {
            "function": function, "content": content_of_name(function), "settings": pipeline.settings,
            "rows": self.materials.key(folds), "seed": seed,
            "test": pipeline.test or 1 / study.file.rules.folds if leaking and pipeline.divides else None,
        }  # fmt: skip
        step = Step(f"{learner} {name}", ASK, settings, {}, {"pool": POOL, "folds": name})
        test = np.concatenate([fold.test for fold in folds])
        return Training(learner, protocol, seed, step, {name: tuple(folds)}, test)

    def _arm(self, learner: str, protocol: str, seed: int, name: str, folds: Sequence[Fold]) -> Training:
        """A model on one fold; rows for dev are of the study's own texts, by authors of their own."""
        (fold,), pool, model = folds, self.materials.pool, self.materials.study.models[learner]
        is_own = np.isin(fold.train, self.materials.own)
        units = None if protocol == RANDOM else self.materials.authors
        train, dev = divided(fold.train[is_own], pool.labels, units, seed)
        rows = np.sort(np.concatenate([train, fold.train[~is_own]]))
        arm = Arm(f"{learner} {name}", Chosen(pool, rows), Chosen(pool, dev), {TEST: Chosen(pool, fold.test)}, seed)
        return Training(learner, protocol, seed, arm.step(model), {arm.name: arm}, fold.test, arm)


def measurements(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> list[Measurement]:
    """Every score with its interval over authors and seeds, those of single seeds, and every price.

    A price, `fall.METRIC`, is the score under the first protocol less that under the second: what the first
    flatters by. Seeds are drawn together on both sides, and so are authors where both test the same rows. Where a
    published protocol tests copied rows, it is scored once more with every row once and the class mix of the data
    (slice `once`), and prices are taken from that: a changed mix is no price of a leak. The protocols on new authors
    are scored once more on rows that each cap leaves (slices `cap=N`).
    """
    study, seed = materials.active, materials.study.file.seed
    metrics = list(dict.fromkeys([study.file.rules.metric, *(f"f1[{name}]" for name in materials.pool.label_names)]))
    published = [answer for answer in answers if answer.protocol == PUBLISHED]
    copying = {answer.learner for answer in published if answer.has_copies}
    conditions = _conditions(materials, answers)
    once = _conditions(
        materials, [counted_once(answer, materials) for answer in published if answer.learner in copying]
    )

    def tags(learner: str, family: str) -> dict[str, str]:
        return {"data": materials.pool.name, "model": learner, "family": family, "part": "test"}

    def sliced(condition: tuple[str, str], runs: Sequence[Run], name: str) -> list[Measurement]:
        return measured([Level(runs, tags(*condition), name)], metrics, seed)

    rows: list[Measurement] = []
    for condition, runs in conditions.items():
        for name in metrics:
            rows += level(runs, name, tags=tags(*condition), seed=seed)
            rows += [single(run, name, {**tags(*condition), "split": run.split}) for run in runs]
    for condition, runs in once.items():
        rows += sliced(condition, runs, ONCE)
    for learner in dict.fromkeys(learner for learner, _ in conditions):
        for price, ends in study.prices_of(learner).items():
            before, after = ((learner, protocol) for protocol in ends)
            if before in conditions and after in conditions:
                compared = {"from": ends[0], "to": ends[1]} | ({"counted": ONCE} if before in once else {})
                reference, runs = (once.get(condition, conditions[condition]) for condition in (before, after))
                rows += measured([Contrast(reference, runs, tags(learner, price) | compared)], metrics, seed)
    on_authors = {AUTHORS, *map(capped_name, study.caps), *map(thinned_name, study.caps)}
    for cap in study.caps:
        kept = np.isin(materials.own, materials.within(cap, materials.own, seed))
        for condition, runs in conditions.items():
            if condition[1] in on_authors:
                rows += sliced(condition, [run.only(kept) for run in runs], f"cap={cap}")
    return rows


def _conditions(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> dict[tuple[str, str], list[Run]]:
    """Runs by learner and protocol. The answers of one seed are one run: each row is tested once over the folds."""
    conditions: dict[tuple[str, str], list[Run]] = {}
    for answer in answers:
        run = Run(
            answer.protocol, answer.protocol, answer.seed, materials.pool.labels[answer.rows], answer.probabilities,
            materials.pool.label_names, materials.authors[answer.rows],
            hashlib.sha256(answer.rows.astype(np.int64).tobytes()).hexdigest()[:16],
        )  # fmt: skip
        conditions.setdefault((answer.learner, answer.protocol), []).append(run)
    return conditions


def counted_once(answer: ProtocolAnswers, materials: ValidationMaterials) -> ProtocolAnswers:
    """The answers with every row once, by its mean probabilities, and the class mix of the study's own texts.

    Copies of a class make it more frequent among the tested rows, and a row with more copies is more often tested;
    a score on these rows differs from one on all data even where nothing leaks. Of classes that are tested more often
    than their share, rows are left out at random.
    """
    rows, place, times = np.unique(answer.rows, return_inverse=True, return_counts=True)
    sums = np.zeros((len(rows), answer.probabilities.shape[1]))
    np.add.at(sums, place, answer.probabilities)
    labels = materials.pool.labels[rows]
    tested = np.bincount(labels, minlength=len(materials.pool.label_names))
    natural = np.bincount(materials.pool.labels[materials.own], minlength=len(tested))
    present = np.flatnonzero(tested)
    share = float((tested[present] / natural[present]).min())
    drawn = []
    for code in present.tolist():
        places = generator(answer.seed, ONCE, code).permutation(np.flatnonzero(labels == code))
        drawn.append(places[: max(1, round(share * int(natural[code])))])
    kept = np.sort(np.concatenate(drawn))
    return replace(answer, rows=rows[kept], probabilities=(sums / times[:, None])[kept])


def side_findings(materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> list[Finding]:
    """Whether the sides are as far apart as the protocols say, counted on the rows that were really used.

    What is on both sides under each protocol, in all folds from the worst seed; rows copied before the split; caps
    without effect.
    """
    study, findings = materials.active, list[Finding]()
    sides = {
        AUTHORS_SHARED: (materials.authors, "have an author who is also trained on"),
        COPIES_SHARED: (
            same_forms(materials.pool.texts), "are also trained on, but for case, handles, links and punctuation",
        ),
    }  # fmt: skip
    for protocol in study.protocols:
        if protocol == PUBLISHED:  # its folds are the random ones, or the pipeline's own
            continue
        folds = {seed: materials.folds(protocol, seed) for seed in study.seeds}
        for check, (codes, what) in sides.items():
            shared, tested, which = _worst(folds, codes)
            share = f"{percent(len(shared) / tested)}{which}"
            message = f"{protocol}: {len(shared):,} of {tested:,} tested texts {what} ({share})."
            level, advice = "fail", ""
            if check == COPIES_SHARED:
                level, advice = "warn", "Keep copies on one side (unseen split repair)." if len(shared) else ""
            elif protocol == RANDOM:
                level, advice = "warn", COMPARE
            findings.append(_finding(materials, check, level, message, shared, advice))
    for answer in answers:
        if answer.protocol == PUBLISHED and study.pipelines[answer.learner].divides:
            findings.append(_copied_before(materials, answer))
    return findings + [
        Finding(
            "cap", "skipped",
            f"{capped_name(cap)} was not run: no author has more than {materials.largest_cell} texts of one class, so "
            f"a cap of {cap} leaves everything.",
            advice="Name a smaller cap.",
        )
        for cap in materials.study.caps if cap not in study.caps
    ]  # fmt: skip


def on_both_sides(fold: Fold, codes: Codes) -> Rows:
    """Test rows whose code is also that of a training row."""
    return fold.test[np.isin(codes[fold.test], codes[fold.train])]


def _worst(folds: Mapping[int, Sequence[Fold]], codes: Codes) -> tuple[Rows, int, str]:
    """Test rows on both sides from the seed that has most of them, how many it tests, and which it is of several."""
    shared = {seed: np.concatenate([on_both_sides(fold, codes) for fold in some]) for seed, some in folds.items()}
    worst = max(shared, key=lambda seed: len(shared[seed]))
    which = f"; seed {worst}, the worst of {len(shared)}" if len(shared) > 1 else ""
    return shared[worst], sum(len(fold.test) for fold in folds[worst]), which


def _copied_before(materials: ValidationMaterials, answer: ProtocolAnswers) -> Finding:
    """Rows of which one copy was tested and another not: told by classes whose rows are tested several times."""
    rows, times = np.unique(answer.rows, return_counts=True)
    labels = materials.pool.labels[rows]
    most = np.zeros(len(materials.pool.label_names), np.intp)
    np.maximum.at(most, labels, times)
    shared = rows[times < most[labels]]
    message = (
        f"{answer.learner}, as published, seed {answer.seed}: of {len(rows):,} different texts tested, "
        f"at least {len(shared):,} have a copy that was trained on."
    )
    advice = "Divide first, then copy the training rows." if len(shared) else ""
    return _finding(materials, "copied before the split", "fail", message, shared, advice)


def _finding(materials: ValidationMaterials, check: str, level: str, message: str, rows: Rows, advice: str) -> Finding:
    """A finding about these rows, `ok` where there are none."""
    ids = tuple(materials.pool.ids[int(row)].as_py() for row in np.unique(rows)[:SHOWN])
    return Finding(check, level if len(rows) else "ok", message, len(rows), ids, advice)


def _publish(folder: RunFolder, materials: ValidationMaterials, answers: Sequence[ProtocolAnswers]) -> None:
    """What every learner said under every protocol: id and a probability per label, a copied row several times."""
    data = materials.pool
    for answer in answers:
        columns = {"id": data.ids.take(pa.array(answer.rows))}
        columns |= {name: answer.probabilities[:, place] for place, name in enumerate(data.label_names)}
        name = file_name(f"{answer.learner}.{answer.protocol}-seed{answer.seed}")
        with atomic(folder / "predictions" / f"{name}.parquet") as path:
            pq.write_table(pa.table(columns), path)


def _about(materials: ValidationMaterials) -> dict[str, Any]:
    study, file, rules = materials.study, materials.study.file, materials.study.file.rules
    return {
        "title": study.path.stem if file.title is None else file.title,
        "settings": {
            "metric": rules.metric, "seed": file.seed, "seeds": study.seeds, "folds": rules.folds,
            "caps": study.caps, "author": file.data.author, "file": study.path.read_text(encoding="utf-8"),
        },
        "data": described_data(materials.pool.take(materials.own)) | {
            "authors": len(set(materials.authors[materials.own].tolist())), "added": len(materials.added),
            "foreign": len(materials.foreign),
        },
        "learners": {name: "pipeline" if name in study.pipelines else "model" for name in study.learners},
        "protocols": materials.active.protocols,
        "prices": study.prices,
        "models": {name: model.described for name, model in study.models.items()},
        "pipelines": {
            name: {"name": name, "settings": pipeline.settings}
            | pipeline.model_dump(include={"leaking", "corrected", "test"})
            for name, pipeline in study.pipelines.items()
        },
    }  # fmt: skip
