"""A whole study: its plan, its steps on an engine, its numbers in a run folder."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.analysis import correlations, shared_tests
from unseen.engines import Step
from unseen.engines.energy import joules
from unseen.progress import track
from unseen.reports.card import write_cards
from unseen.reports.study import Cell, read_study_run
from unseen.reports.study_page import write_study_page
from unseen.reports.study_tables import TELLING, headline
from unseen.roles import Engine
from unseen.store import (
    read_findings,
    read_measurements,
    read_split,
    write_findings,
    write_measurements,
    write_split,
)
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.study.about import used_versions
from unseen.study.definition import Gate
from unseen.study.describing import MAP
from unseen.study.file import read_study
from unseen.study.folder import RunFolder
from unseen.study.grid import Grid, load_sources
from unseen.study.measuring import FINDINGS, MEASUREMENTS, PROPERTIES
from unseen.study.work import SPLIT
from unseen.types import Measurement, Split


@dataclass(frozen=True)
class StudyPlan:
    """What a study will do."""

    steps: Mapping[str, int]
    """Steps by what they do."""
    done: int
    """Steps whose results are there already."""
    trainings: int
    trainings_done: int
    texts: int
    """Texts that go through transformers in training, epochs counted, at most."""
    seconds: float | None
    """For those, on this machine, one at a time, at a speed measured now; None when no transformer is left to train."""


@dataclass(frozen=True)
class Verdict:
    """How a gate came out."""

    gate: Gate
    value: float | None
    """The worst of the numbers it looks at; None when there is none."""
    passed: bool


@dataclass(frozen=True)
class Ran:
    """A study that has been carried out as far as it could be."""

    folder: Path
    report: Path
    failures: Mapping[str, str]
    """Steps that failed, with what they said."""
    gates: tuple[Verdict, ...]
    verdict: tuple[str, ...] = ()
    """What was found, a sentence each."""

    @property
    def passed(self) -> bool:
        """Whether everything was done and every gate holds."""
        return not self.failures and all(each.passed for each in self.gates)


def plan_study(path: str | Path, *, store: str | Path, trust: bool = False) -> tuple[StudyPlan, list[tuple[str, bool]]]:
    """What a study would do, and its steps with whether each is done; nothing is written, none of its code called."""
    study = read_study(path, trust=trust)
    grid, results = Grid(study, load_sources(study)), Results(store)
    return plan_of(grid, results), [(step.name, results.has(step.key)) for step in grid.steps]


def plan_of(grid: Grid, results: Results) -> StudyPlan:
    """What is to be done, transformers timed on a few batches."""
    done = {step.key for step in grid.steps if results.has(step.key)}
    kinds = Counter(step.work.rpartition(":")[2].replace("_", " ") for step in grid.steps)
    trainings = {step.key for step in grid.trainings}
    texts, seconds = 0, 0.0
    speeds: dict[str, float | None] = {}
    for step, model, rows, data in grid.texts():
        if step.key in done:
            continue
        if model.called not in speeds:
            speeds[model.called] = model.recipe().speed(data) if model.is_transformer else None
        if speed := speeds[model.called]:
            texts += rows * model.epochs
            seconds += rows * model.epochs / speed
    return StudyPlan(dict(kinds), len(done), len(trainings), len(trainings & done), texts, seconds or None)


def run_study(
    path: str | Path,
    *,
    engine: Engine,
    out: str | Path,
    store: str | Path,
    command: str | None = None,
    announce: Callable[[StudyPlan], None] | None = None,
    trust: bool = False,
) -> Ran:
    """Carry out the study in a TOML file, as far as it can be, and write its numbers and its report to `out`.

    Results of steps are kept in `store`; what is there already, from this study or another, is not done again.
    `trust` lets code run that the file names, or that comes with a model it names.
    """
    study = read_study(path, trust=trust)
    folder, results = RunFolder(out), Results(store)
    with folder.locked():
        grid = Grid(study, load_sources(study))
        folder.begin(_identity(grid))
        if announce is not None:
            announce(plan_of(grid, results))
        begun, spent = datetime.now(UTC), joules()
        reused = {step.key for step in grid.steps if results.has(step.key)}
        failures = _carry_out(grid, engine, results)
        about = _about(grid, results, command, failures) | {
            "costs": _costs(grid.steps, results, reused),
            "wall_seconds": round((datetime.now(UTC) - begun).total_seconds(), 1),
            "joules": _spent(spent),
        }
        measured = _publish(grid, folder, results)
        gates = tuple(judged(gate, measured) for gate in study.gates)
        about["gates"] = [asdict(each) for each in gates]
        folder.finish(about)
        write_cards(folder.path)
        report = write_study_page(folder.path)
        said = headline(read_study_run(folder.path))
    return Ran(folder.path, report, failures, gates, tuple(said))


def _carry_out(grid: Grid, engine: Engine, results: Results) -> dict[str, str]:
    """Do every step that can be done; what failed, and what could not be begun because of it."""
    open_ = [step for step in grid.steps if not results.has(step.key)]
    failures: dict[str, str] = {}
    for outcome in track(engine.run(grid.steps, results, grid.shared), "steps", len(open_)):
        if outcome.error is not None:
            failures[outcome.step.name] = f"{type(outcome.error).__name__}: {outcome.error}"
    for step in open_:
        if not results.has(step.key) and step.name not in failures:
            failures[step.name] = "not begun: a step that it needs failed"
    return failures


def _publish(grid: Grid, folder: RunFolder, results: Results) -> list[Measurement]:
    """Write the numbers of all finished steps where people look for them; returns the measurements."""
    splits = {name: _split(grid, cell, step, name, results) for name, (cell, step) in grid.splits.items()}
    known = {name: split for name, split in splits.items() if split is not None}
    for name, split in known.items():
        write_split(split, folder / "splits" / f"{file_name(name)}.csv")
    found = [step for cell in grid.cells if (step := grid.findings(cell))]
    rows = _rows([grid.scores(cell) for cell in grid.cells] + found, MEASUREMENTS, read_measurements, results)
    properties = _rows(grid.properties, PROPERTIES, read_measurements, results)
    rows += _overlaps(grid, known) + _correlations(grid, rows, properties)
    write_measurements(rows, folder / MEASUREMENTS)
    write_measurements(properties, folder / PROPERTIES)
    write_findings(_rows(found, FINDINGS, read_findings, results), folder / FINDINGS)
    for (data, space), step in grid.maps.items():
        if results.has(step.key):
            shown = results.folder(step.key) / MAP
            folder.place(shown, f"maps/{file_name(f'{data}.{space}')}.parquet")
    return rows


def _rows(steps: Sequence[Step], file: str, read: Callable[..., list[Any]], results: Results) -> list[Any]:
    return [row for step in steps if results.has(step.key) for row in read(results.folder(step.key) / file)]


def _split(grid: Grid, cell: Cell, step: Step, name: str, results: Results) -> Split | None:
    if not results.has(step.key):
        return None
    return replace(read_split(results.folder(step.key) / SPLIT, grid.sources[cell.data].data), name=name)


def _overlaps(grid: Grid, splits: Mapping[str, Split]) -> list[Measurement]:
    """How many test rows splits of different spaces share, and those of one space from different seeds."""
    groups: dict[tuple[str, str], dict[str, list[Split]]] = {}
    for name, (cell, _) in grid.splits.items():
        if cell.space and name in splits:
            groups.setdefault((cell.data, cell.family), {}).setdefault(cell.space, []).append(splits[name])
    return [
        replace(row, tags={"data": data, "family": family} | dict(row.tags))
        for (data, family), spaces in groups.items()
        for row in shared_tests(grid.sources[data].data, spaces)
    ]


def _correlations(grid: Grid, rows: Sequence[Measurement], properties: Sequence[Measurement]) -> list[Measurement]:
    """Which properties of splits go with the score of the model whose space was cut, per dataset."""
    own = {(cell.data, cell.space, cell.family, cell.model) for cell in grid.cells if cell.own}
    found: list[Measurement] = []
    for data in grid.sources:
        scores = [
            row
            for row in rows
            if row.metric == grid.study.metric and row.tags.get("data") == data and "split" in row.tags
            and (data, row.tags.get("space", ""), row.tags.get("family"), row.tags.get("model")) in own
        ]  # fmt: skip
        telling = [
            row
            for row in properties
            if row.slice == "all" and row.tags.get("data") == data and TELLING.match(row.metric)
        ]
        found += [replace(row, tags={"data": data} | dict(row.tags)) for row in correlations(telling, scores)]
    return found


def judged(gate: Gate, rows: Sequence[Measurement]) -> Verdict:
    """How a gate comes out: the worst number that it looks at decides; no number is a failure."""
    wanted = {"data": gate.data, "space": gate.space, "family": gate.split, "model": gate.model, "part": gate.part}
    metric = f"fall.{gate.metric}" if gate.what == "fall" else gate.metric
    values = [
        row.value
        for row in rows
        if row.metric == metric and row.slice == "all" and row.value is not None and "split" not in row.tags
        and all(not value or row.tags.get(name) == value for name, value in wanted.items())
    ]  # fmt: skip
    if not values:
        return Verdict(gate, None, passed=False)
    high, low = max(values), min(values)
    over = gate.at_most is not None and high > gate.at_most
    under = gate.at_least is not None and low < gate.at_least
    return Verdict(gate, high if gate.at_most is not None and (over or not under) else low, not (over or under))


def _identity(grid: Grid) -> dict[str, Any]:
    """What makes a folder this study's: its title and data. What a study asks may grow."""
    data = {name: source.data.fingerprint for name, source in grid.sources.items()}
    return {"kind": "study", "title": grid.study.title, "fingerprints": data}


def _about(grid: Grid, results: Results, command: str | None, failures: Mapping[str, str]) -> dict[str, Any]:
    study = grid.study
    return {
        "kind": "study",
        "title": study.title,
        "command": command or f"unseen run {study.path.name}",
        "settings": {
            "metric": study.metric, "seed": study.seed, "seeds": study.seeds, "pair": study.pair,
            "file": study.path.read_text(encoding="utf-8"),
        },
        "datasets": {
            name: {
                "name": source.data.name, "rows": len(source.data), "independent": int(source.aside.sum()),
                "label_names": source.data.label_names, "counts": source.data.label_counts,
                "fingerprint": source.data.fingerprint,
            }
            for name, source in grid.sources.items()
        },
        "models": {name: model.described for name, model in study.models.items()},
        "splits": {
            file_name(name): cell.family for name, (cell, step) in grid.splits.items() if results.has(step.key)
        },
        "baseline": study.baseline.name,
        "cells": [asdict(cell) for cell in grid.cells],
        "variants": dict(study.variants),
        "failures": dict(failures),
        "versions": used_versions(),
        "host": {"system": platform.system(), "machine": platform.machine()},
    }  # fmt: skip


def _costs(steps: Sequence[Step], results: Results, reused: set[str]) -> list[dict[str, Any]]:
    """What every finished step took, and whether it was there already."""
    found = []
    for step in steps:
        if results.has(step.key):
            record = results.record(step.key)
            told = {name: record.get(name) for name in ("seconds", "cpu_seconds", "gpus")}
            found.append({"step": step.name, "work": step.work.rpartition(":")[2], "key": step.key,
                          "reused": step.key in reused} | told)  # fmt: skip
    return found


def _spent(before: float | None) -> float | None:
    after = joules()
    # the counter starts again from zero after some hours of load
    return None if before is None or after is None or after < before else round(after - before, 1)
