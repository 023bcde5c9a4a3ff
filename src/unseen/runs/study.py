"""A whole study: a graph of steps, each step of its cells once; its plan, its work on an engine, its numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from unseen.analysis import correlations, shared_tests
from unseen.costs.meter import measure_cost
from unseen.engines import Local, Step, in_order
from unseen.errors import InputError
from unseen.evaluation.gates import Gate
from unseen.progress import track
from unseen.reports.study_tables import TELLING, Cell
from unseen.roles import Engine
from unseen.runs.estimate import speed
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.measurement_steps import (
    FINDINGS,
    MAP,
    MEASUREMENTS,
    PROPERTIES,
    Scoring,
    findings_step,
    map_step,
    properties_step,
    scores_step,
)
from unseen.runs.source import Source, load_source
from unseen.runs.spaces import Model, Space
from unseen.runs.study_file import OWN_MODEL, Splits, Study, read_study
from unseen.runs.training_steps import (
    BASELINE,
    SPLIT,
    Cut,
    PlannedTraining,
    kept_whole,
    reads_vectors,
    seen_folds,
    seen_steps,
    space_cut,
    space_step,
    split_step,
    train_step,
)
from unseen.splits.quotas import rows_asked
from unseen.store import (
    read_findings,
    read_measurements,
    read_split,
    write_measurements,
)
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, Split, located

LOOK_SECONDS = 1.0
STORE = "unseen-steps"
"""Where results of steps are kept unless a place is named."""
"""Between two looks at counters of energy."""


def load_sources(study: Study) -> dict[str, Source]:
    """The data of a study, loaded, limited, with the independent rows set aside."""
    return {
        name: load_source(table.source, table.load, table.wanted, study.seed, name)
        for name, table in study.data.items()
    }


class Grid:
    """The cells of a study and the steps that fill them."""

    def __init__(self, study: Study, sources: Mapping[str, Source]) -> None:
        self.study, self.sources = study, sources
        self._models: dict[str, Model] = dict(study.models)
        self._trained: dict[Cell, list[PlannedTraining]] = {}

    @cached_property
    def cells(self) -> list[Cell]:
        """Every cell of every experiment, the random splits they are compared with included."""
        cells: dict[Cell, None] = {}
        for data, space, splits, model, own in self._crossed():
            if self._models.setdefault(model.called, model).described != model.described:
                raise InputError(
                    f"two models are called {model.called!r}", fix="give the one in the study file another name"
                )
            cell = Cell(data, space, splits.name, model.called, own or splits.use == BASELINE, splits.test, splits.dev)
            cells[cell] = cells[self.control_of(cell)] = None
        return list(cells)

    def _crossed(self) -> Iterator[tuple[str, str, Splits, Model, bool]]:
        """Data, space, splits and model of every cell that an experiment asks for."""
        study = self.study
        for experiment in study.experiments:
            for data in experiment.data:
                for splits in (study.splits[name] for name in experiment.splits):
                    for name in experiment.spaces:
                        space = study.spaces[name]
                        for model, own in self._trained_in(experiment.models, space):
                            yield data, name if reads_vectors(splits.use) else "", splits, model, own
                    if not experiment.spaces:
                        for name in experiment.models:
                            yield data, "", splits, study.models[name], True

    def _trained_in(self, models: tuple[str, ...], space: Space) -> Iterator[tuple[Model, bool]]:
        for name in models:
            model = space.model if name == OWN_MODEL else self.study.models[name]
            yield model, model.called == space.model.called

    def control_of(self, cell: Cell) -> Cell:
        """The random splits of the same size that a cell is compared with."""
        baseline = self.study.baseline
        of = self.study.variants.get(baseline.name, {}).get("of", baseline.name)
        sizes = (("test", cell.test, baseline.test), ("dev", cell.dev, baseline.dev))
        other = "".join(f" {part}={share}" for part, share, usual in sizes if share != usual)
        family = f"{of}{other}" if other else baseline.name
        return Cell(cell.data, "", family, cell.model, True, cell.test, cell.dev)

    def _way(self, cell: Cell) -> Splits:
        """How a cell is split; random splits of another size are made like those of the study."""
        return self.study.splits.get(cell.family, self.study.baseline)

    # -- the steps of a cell ---------------------------------------------------------------------------------------

    def cuts(self, cell: Cell) -> dict[str, Step]:
        """The steps that make the splits of a cell, by the name of the split, one per seed."""
        splits = self._way(cell)
        groups = self.study.data[cell.data].groups
        space = space_cut(self.study.spaces[cell.space], splits.use) if cell.space else None
        cuts = {}
        for seed in splits.seeds:
            name = ".".join(filter(None, (cell.data, cell.space, cell.family, str(seed))))
            cut = Cut(name, splits.use, space, seed, seed, cell.test, cell.dev, groups, splits.knobs)
            cuts[name] = split_step(self.sources[cell.data], cut, self.study.seed)
        return cuts

    def trained(self, cell: Cell) -> list[PlannedTraining]:
        """The trainings of a cell."""
        if cell not in self._trained:
            self._trained[cell] = self._plan(cell)
        return self._trained[cell]

    def _plan(self, cell: Cell) -> list[PlannedTraining]:
        source, model = self.sources[cell.data], self._models[cell.model]
        others = {role: self.sources[name] for role, name in (("added", model.add), ("lexicon", model.lexicon)) if name}
        splits, folds, trainings = self._way(cell), self._seen_folds(cell, model), []
        for number, (name, cut) in enumerate(self.cuts(cell).items()):
            for seed in self._seeds(cell, number):
                called = f"{cell.model} on {name} seed {seed}"
                training = train_step(source, cut, model, seed, called, others)
                seen = seen_steps(training, folds, kept_whole(source, splits.use, self.study.data[cell.data].groups))
                trainings.append(PlannedTraining(name, cell.family, seed, cut, training, seen))
        return trainings

    def _seen_folds(self, cell: Cell, model: Model) -> int:
        """Folds of the seen control: of the hard splits of a model's own space, and of splits that have none."""
        if cell == self.control_of(cell) or not cell.own:
            return 0
        asked = self.study.measure.seen_folds
        return asked if asked is not None else seen_folds(model)

    def _seeds(self, cell: Cell, number: int) -> tuple[int, ...]:
        seeds = self.study.seeds
        paired = self.study.pair and len(self._way(cell).seeds) == len(seeds)
        return (seeds[number],) if paired else seeds

    def asked(self, cell: Cell) -> Scoring:
        """What is measured in a cell."""
        table = self.study.data[cell.data]
        return Scoring(
            self.study.metric, table.slices, table.groups, table.agreement, self.study.seed, cell.tags
        )  # fmt: skip

    def scores(self, cell: Cell) -> Step:
        """The scores of a cell and its fall."""
        control = [] if cell == self.control_of(cell) else self.trained(self.control_of(cell))
        return scores_step(self.sources[cell.data], self.trained(cell), control, self.asked(cell))

    def findings(self, cell: Cell) -> Step | None:
        """Whether the first split of a cell is hard or broken; asked of the model whose space was cut."""
        if not (self.study.measure.findings and cell.own and cell.space):
            return None
        runs = self.trained(cell)
        first = [run for run in runs if run.split == runs[0].split]
        return findings_step(
            self.sources[cell.data], first, self.trained(self.control_of(cell)), self.asked(cell)
        )  # fmt: skip

    # -- all of them -----------------------------------------------------------------------------------------------

    @cached_property
    def splits(self) -> dict[str, tuple[Cell, Step]]:
        """Every split by name."""
        return {name: (cell, cut) for cell in self.cells for name, cut in self.cuts(cell).items()}

    @cached_property
    def properties(self) -> list[Step]:
        """The properties of every split."""
        planned = []
        for name, (cell, made) in self.splits.items():
            source = self.sources[cell.data]
            space = made.needs.get("vectors")
            tags = {"data": cell.data, "family": cell.family} | ({"space": cell.space} if cell.space else {})
            neutral = self.study.data[cell.data].neutral
            planned.append(properties_step(source, made, space, name, neutral, tags))
        return planned

    @cached_property
    def maps(self) -> dict[tuple[str, str], Step]:
        """A map of every space, marked by the first hard split of every space."""
        steps = {}
        for data, source in self.sources.items():
            firsts = self._first_splits(data)
            cut = (cell.space for cell, _ in self.splits.values() if cell.data == data and cell.space)
            for name in dict.fromkeys(cut):
                space = space_step(source, self.study.spaces[name], self.study.seed)
                steps[data, name] = map_step(source, space, firsts, self.study.seed)
        return steps

    def _first_splits(self, data: str) -> dict[str, Step]:
        firsts: dict[tuple[str, str], tuple[str, Step]] = {}
        for name, (cell, made) in self.splits.items():
            if cell.data == data and cell.space:
                firsts.setdefault((cell.space, cell.family), (name, made))
        return dict(firsts.values())

    @property
    def trainings(self) -> list[Step]:
        """Every training, each once."""
        steps = (step for cell in self.cells for run in self.trained(cell) for step in (run.training, *run.seen))
        return list({step.key: step for step in steps}.values())

    def texts(self) -> Iterator[tuple[Step, Model, int, Dataset]]:
        """Everything that is trained: the step, its model, how many texts it reads in an epoch, and of which data."""
        seen: set[str] = set()
        for cell in self.cells:
            source, model = self.sources[cell.data], self._models[cell.model]
            rest = int((~source.aside).sum())
            rows = round((rest - rows_asked(cell.test, rest, "test")) * (1 - cell.dev))
            for step in (step for run in self.trained(cell) for step in (run.training, *run.seen)):
                if step.key not in seen:
                    seen.add(step.key)
                    yield step, model, rows, source.data
            if cell.space and not self.study.spaces[cell.space].encodes_untrained:
                space = space_step(source, self.study.spaces[cell.space], self.study.seed)
                learnt = space if "model" in space.settings else space.needs["vectors"]
                if learnt.key not in seen:
                    seen.add(learnt.key)
                    yield learnt, self.study.spaces[cell.space].model, rest, source.data

    @cached_property
    def steps(self) -> list[Step]:
        """All steps of the study, needs first: what takes long before what is measured from it."""
        measured = [self.scores(cell) for cell in self.cells]
        steps = [step for cell in self.cells if (step := self.findings(cell))]
        return in_order([*self.trainings, *measured, *steps, *self.properties, *self.maps.values()])

    @property
    def shared(self) -> dict[str, Any]:
        """What steps ask the engine for."""
        return dict(self.sources)


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


def plan_study(
    path: str | Path, *, store: str | Path = STORE, gates: Sequence[Gate | str] = (), trust: bool = False
) -> tuple[StudyPlan, list[tuple[str, bool]]]:
    """What a study would do, and its steps with whether each is done; nothing is written, none of its code called."""
    study = read_study(path, gates=gates, trust=trust)
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
    engine: Engine | None = None,
    out: str | Path | None = None,
    store: str | Path = STORE,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[StudyPlan], None] | None = None,
    trust: bool = False,
) -> Result:
    """Carry out the study in a TOML file, as far as it can be, and write its numbers and its report to `out`.

    Without `engine` steps run in processes here, without `out` the folder is `out/STUDY`. Results of steps are kept in
    `store`; what is there already, from this study or another, is not done again. `gates` are kept beside those of the
    file. `trust` lets code run that the file names, or that comes with a model it names.
    """
    study, results = read_study(path, gates=gates, trust=trust), Results(store)
    grid, runner, out = Grid(study, load_sources(study)), engine or Local(), out or folder_of(path)

    def work(folder: RunFolder) -> Output:
        if announce is not None:
            announce(plan_of(grid, results))
        reused = {step.key for step in grid.steps if results.has(step.key)}
        with measure_cost(interval=LOOK_SECONDS, idle_seconds=0) as cost:
            failures = carry_out_all(grid.steps, runner, results, grid.shared)
        splits = {
            name: replace(read_split(results.folder(step.key) / SPLIT, grid.sources[cell.data].data), name=name)
            for name, (cell, step) in grid.splits.items()
            if results.has(step.key)
        }
        rows, findings = _publish(grid, splits, folder, results)
        about = _about(grid, results, failures) | {
            "costs": _costs(grid.steps, results, reused), "wall_seconds": cost.seconds, "joules": cost.energy.joules,
        }  # fmt: skip
        return Output(rows, findings, about, splits=splits)

    command = command or f"unseen study run {study.path.name}"
    return carry_through("study", _identity(grid), work, out=out, command=command, gates=study.gates, cards=True)


def folder_of(path: str | Path) -> Path:
    """Where the run of a file is written unless a folder is named."""
    return Path("out") / Path(path).stem


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


def _publish(
    grid: Grid, splits: Mapping[str, Split], folder: RunFolder, results: Results
) -> tuple[list[Measurement], list[Finding]]:
    """Put properties and maps of all finished steps where people look for them; measurements and findings."""
    asked = [(cell, step) for cell in grid.cells if (step := grid.findings(cell))]
    steps = [step for _, step in asked]
    rows = _rows([grid.scores(cell) for cell in grid.cells] + steps, MEASUREMENTS, read_measurements, results)
    properties = _rows(grid.properties, PROPERTIES, read_measurements, results)
    rows += _overlaps(grid, splits) + _correlations(grid, rows, properties)
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
