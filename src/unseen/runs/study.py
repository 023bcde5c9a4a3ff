"""A whole study: its plan, its steps on an engine, its numbers in a run folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen.analysis import correlations, shared_tests
from unseen.engines import Step
from unseen.machine import joules
from unseen.progress import track
from unseen.reports.study_tables import TELLING, Cell
from unseen.roles import Engine
from unseen.runs.cost import speed
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.measurement_steps import FINDINGS, MAP, MEASUREMENTS, PROPERTIES
from unseen.runs.study_file import read_study
from unseen.runs.study_grid import Grid, load_sources
from unseen.runs.training_steps import SPLIT
from unseen.store import (
    read_findings,
    read_measurements,
    read_split,
    write_measurements,
    write_split,
)
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Finding, Measurement, Split, located


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
    """Texts that go through models in training, epochs counted, at most; not those of recipes of the user's own."""
    seconds: float | None
    """For those, on this machine, one at a time, at a speed measured now; None when none is left to train."""


def plan_study(path: str | Path, *, store: str | Path, trust: bool = False) -> tuple[StudyPlan, list[tuple[str, bool]]]:
    """What a study would do, and its steps with whether each is done; nothing is written, none of its code called."""
    study = read_study(path, trust=trust)
    grid, results = Grid(study, load_sources(study)), Results(store)
    return plan_of(grid, results), [(step.name, results.has(step.key)) for step in grid.steps]


def plan_of(grid: Grid, results: Results) -> StudyPlan:
    """What is to be done, the speed of each model tried now."""
    done = {step.key for step in grid.steps if results.has(step.key)}
    kinds = Counter(step.work.rpartition(":")[2].replace("_", " ") for step in grid.steps)
    trainings = {step.key for step in grid.trainings}
    texts, seconds = 0, 0.0
    speeds: dict[str, float | None] = {}
    for step, model, rows, data in grid.texts():
        if step.key in done:
            continue
        if model.called not in speeds:
            speeds[model.called] = speed(model, data)
        if fast := speeds[model.called]:
            texts += rows * model.epochs
            seconds += rows * model.epochs / fast
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
) -> Result:
    """Carry out the study in a TOML file, as far as it can be, and write its numbers and its report to `out`.

    Results of steps are kept in `store`; what is there already, from this study or another, is not done again.
    `trust` lets code run that the file names, or that comes with a model it names.
    """
    study, results = read_study(path, trust=trust), Results(store)
    grid = Grid(study, load_sources(study))

    def work(folder: RunFolder | None) -> Output:
        assert folder is not None
        if announce is not None:
            announce(plan_of(grid, results))
        begun, spent = datetime.now(UTC), joules()
        reused = {step.key for step in grid.steps if results.has(step.key)}
        failures = carry_out_all(grid.steps, engine, results, grid.shared)
        rows, findings = _publish(grid, folder, results)
        return Output(rows, findings, _about(grid, results, failures) | {
            "costs": _costs(grid.steps, results, reused),
            "wall_seconds": round((datetime.now(UTC) - begun).total_seconds(), 1),
            "joules": _spent(spent),
        })  # fmt: skip

    command = command or f"unseen study run {study.path.name}"
    return carry_through("study", _identity(grid), work, out=out, command=command, gates=study.gates, cards=True)


def carry_out_all(
    steps: Sequence[Step], engine: Engine, results: Results, shared: Mapping[str, Any], work: str = "steps"
) -> dict[str, str]:
    """Do every step that can be done; what failed, and what could not be begun because of it."""
    open_ = [step for step in steps if not results.has(step.key)]
    failures: dict[str, str] = {}
    for outcome in track(engine.run(steps, results, shared), work, len(open_)):
        if outcome.error is not None:
            failures[outcome.step.name] = f"{type(outcome.error).__name__}: {outcome.error}"
    for step in open_:
        if not results.has(step.key) and step.name not in failures:
            failures[step.name] = "not begun: a step that it needs failed"
    return failures


def _publish(grid: Grid, folder: RunFolder, results: Results) -> tuple[list[Measurement], list[Finding]]:
    """Put splits, properties and maps of all finished steps where people look for them; measurements and findings."""
    splits = {name: _split(grid, cell, step, name, results) for name, (cell, step) in grid.splits.items()}
    known = {name: split for name, split in splits.items() if split is not None}
    for name, split in known.items():
        write_split(split, folder / "splits" / f"{file_name(name)}.csv")
    asked = [(cell, step) for cell in grid.cells if (step := grid.findings(cell))]
    steps = [step for _, step in asked]
    rows = _rows([grid.scores(cell) for cell in grid.cells] + steps, MEASUREMENTS, read_measurements, results)
    properties = _rows(grid.properties, PROPERTIES, read_measurements, results)
    rows += _overlaps(grid, known) + _correlations(grid, rows, properties)
    write_measurements(properties, folder / PROPERTIES)
    findings = [
        finding
        for cell, step in asked
        for finding in located(_rows([step], FINDINGS, read_findings, results), grid.sources[cell.data].data)
    ]
    for (data, space), step in grid.maps.items():
        if results.has(step.key):
            shown = results.folder(step.key) / MAP
            folder.place(shown, f"maps/{file_name(f'{data}.{space}')}.parquet")
    return rows, findings


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
    correlated: list[Measurement] = []
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
        correlated += [replace(row, tags={"data": data} | dict(row.tags)) for row in correlations(telling, scores)]
    return correlated


def _identity(grid: Grid) -> dict[str, Any]:
    """What makes a folder this study's: its title and data. What a study asks may grow."""
    data = {name: source.data.fingerprint for name, source in grid.sources.items()}
    return {"title": grid.study.title, "fingerprints": data}


def _about(grid: Grid, results: Results, failures: Mapping[str, str]) -> dict[str, Any]:
    study = grid.study
    return {
        "settings": {
            "metric": study.metric, "seed": study.seed, "seeds": study.seeds, "pair": study.pair,
            "file": study.path.read_text(encoding="utf-8"),
        },
        "datasets": {
            name: described_data(source.data) | {"independent": int(source.aside.sum())}
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
    }  # fmt: skip


def _costs(steps: Sequence[Step], results: Results, reused: set[str]) -> list[dict[str, Any]]:
    """What every finished step took, and whether it was there already."""
    costs = []
    for step in steps:
        if results.has(step.key):
            record = results.record(step.key)
            cost = {name: record.get(name) for name in ("seconds", "cpu_seconds", "gpus")}
            about = {"step": step.name, "work": step.work.rpartition(":")[2], "key": step.key}
            costs.append({**about, "reused": step.key in reused, **cost})
    return costs


def _spent(before: float | None) -> float | None:
    after = joules()
    # the counter starts again from zero after some hours of load
    return None if before is None or after is None or after < before else round(after - before, 1)
