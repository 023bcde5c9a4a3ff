"""Which model, over several datasets? Each is trained on each, and every two are compared on the same texts.

Three views of the same models: the ordinary one, on the published split or on folds; elsewhere, on the test texts of
other datasets of the family, where a model was not trained; and hard, on a latent-hard split that is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen.audits.subject import texts_together
from unseen.costs.meter import summed_costs
from unseen.engines import Local, Step, in_order
from unseen.engines.steps import folders_of
from unseen.errors import InputError
from unseen.evaluation.boards import Board, board_measurements
from unseen.evaluation.falls import Run, fall
from unseen.evaluation.gates import Gate
from unseen.evaluation.measurements import aligned
from unseen.evaluation.metrics import chance
from unseen.evaluation.metrics import metric as metric_of
from unseen.repairs.copies import ties
from unseen.roles import Engine
from unseen.runs.bench_file import UNIT, BenchMember, BenchSuite, load_members, read_bench
from unseen.runs.experiment import Arm, Chosen, predictions_of, under_labels
from unseen.runs.frame import Output, Result, carry_through
from unseen.runs.source import Source
from unseen.runs.spaces import Space
from unseen.runs.study import carry_out_all, folder_of
from unseen.runs.training_steps import SPLIT, Cut, space_cut, split_step
from unseen.seeding import child_seed, generator
from unseen.store import read_split
from unseen.store.files import file_name, read_json
from unseen.store.results import Results
from unseen.store.run_folder import ABOUT, RunFolder
from unseen.types import Finding, Measurement, Predictions, Split, some
from unseen.types.arrays import Floats, Rows

ORDINARY, ELSEWHERE, HARD = "ordinary", "elsewhere", "hard"
VIEWS = (ORDINARY, ELSEWHERE, HARD)
TEST, ARROW = "test", " → "
Place = tuple[str, str, int]
"""Dataset, split and seed of an arm."""


@dataclass(frozen=True)
class BenchPlan:
    """What a benchmark will do."""

    datasets: Mapping[str, int]
    """Rows by name."""
    models: tuple[str, ...]
    trainings: int
    done: int


@dataclass(frozen=True, eq=False)
class BenchGrid:
    """The trainings of a benchmark: every model on every split of every dataset, from every seed."""

    bench: BenchSuite
    members: Mapping[str, BenchMember]
    hard: Mapping[str, Split]
    """The latent-hard split of each dataset that has one."""

    @property
    def splits(self) -> dict[str, Split]:
        """Every split, by the names of dataset and split."""
        return {
            f"{name}.{split.name}": split
            for name, member in self.members.items()
            for split in (*member.splits, *filter(None, [self.hard.get(name)]))
        }

    @cached_property
    def arms(self) -> dict[Place, Arm]:
        """Every training, whatever is trained; a model with fewer trainings has the first seeds."""
        made: dict[Place, Arm] = {}
        for name, member in self.members.items():
            hard = [self.hard[name]] if name in self.hard else []
            for split in (*member.splits, *hard):
                others = self.elsewhere(name) if split is member.splits[0] else {}
                train, dev, test = (Chosen(member.data, split.rows(part)) for part in ("train", "dev", "test"))
                ask = {TEST: test} | {
                    other: Chosen(under_labels(self.members[other].data.take(rows), member.data.label_names))
                    for other, rows in others.items()
                }
                for number in range(max(self.bench.trainings.values())):
                    seed = self.bench.file.seed + number
                    called = f"{name}, {split.name}, seed {seed}"
                    made[name, split.name, seed] = Arm(called, train, dev, ask, seed)
        return made

    @cached_property
    def steps(self) -> dict[tuple[str, Place], Step]:
        """The trainings of each model."""
        first = self.bench.file.seed
        return {
            (name, place): replace(step, name=f"{step.name}, {name}")
            for name, model in self.bench.models.items()
            for place, arm in self.arms.items()
            if place[2] < first + self.bench.trainings[name]
            for step in [arm.step(model)]
        }

    def relatives(self, name: str) -> list[str]:
        """Other datasets of its family whose labels are known in the words of the family."""
        own = self.members[name]
        return [
            other
            for other, member in self.members.items()
            if other != name and own.family_labels is not None and member.table.family == own.table.family
        ]

    def elsewhere(self, name: str) -> dict[str, Rows]:
        """The rows of its relatives that its models are asked about."""
        return {other: rows for other in self.relatives(name) if len(rows := self.tested[other])}

    @cached_property
    def tested(self) -> dict[str, Rows]:
        """Of each dataset with relatives, test rows of its first split that no relative has nearly the same text of."""
        chosen = {}
        for name, member in self.members.items():
            relatives = self.relatives(name)
            if not relatives:
                continue
            rows = member.splits[0].rows("test")
            rows = rows[member.in_family[member.data.labels[rows]] >= 0]
            rows = rows[~self._copied(name, relatives)[rows]]
            most, draw = self.bench.file.elsewhere, generator(self.bench.file.seed, "elsewhere", name)
            chosen[name] = rows if len(rows) <= most else np.sort(draw.choice(rows, most, replace=False))
        return chosen

    def _copied(self, name: str, relatives: Sequence[str]) -> Any:
        """Which rows of a dataset stand, nearly, in a relative too."""
        own = self.members[name].data
        both = texts_together([self.members[member].data for member in (name, *relatives)])
        groups = ties(both, np.arange(len(both)), "near", self.bench.file.seed).groups()
        return np.isin(groups[: len(own)], groups[len(own) :])


@dataclass(frozen=True, eq=False)
class BenchRuns:
    """What the trained models of a benchmark said, as runs."""

    grid: BenchGrid
    results: Results

    def _answers(self, model: str, place: Place) -> dict[str, Predictions] | None:
        step = self.grid.steps.get((model, place))
        if step is None or not self.results.has(step.key):
            return None
        return predictions_of(self.grid.arms[place], step, self.results)

    def _seeds(self, model: str) -> range:
        first = self.grid.bench.file.seed
        return range(first, first + self.grid.bench.trainings[model])

    def _on_splits(self, name: str, splits: Sequence[Split], sample: str, model: str) -> list[Run]:
        """A run for each seed: the answers about the test rows of all splits, put together."""
        member, runs = self.grid.members[name], []
        data = member.data
        for seed in self._seeds(model):
            asked = [self._answers(model, (name, split.name, seed)) for split in splits]
            if any(answers is None for answers in asked):
                return []
            rows = [split.rows("test") for split in splits]
            parts = [aligned(data, answers[TEST], part) for answers, part in zip(asked, rows, strict=True) if answers]
            tested = np.concatenate(rows)
            groups = None if member.groups is None else member.groups[tested]
            about = (sample, model, seed, data.labels[tested], np.concatenate(parts), data.label_names)
            runs.append(Run(*about, groups, sample))
        return runs

    def _across(self, source: str, target: str, model: str) -> list[Run]:
        """Runs of the models of one dataset on test rows of another, or of itself, in the labels of the family."""
        own, other = self.grid.members[source], self.grid.members[target]
        rows, runs = self.grid.tested[target], []
        groups = None if other.groups is None else other.groups[rows]
        for seed in self._seeds(model):
            asked = self._answers(model, (source, own.splits[0].name, seed))
            if asked is None:
                return []
            if source == target:
                probabilities = aligned(other.data, asked[TEST], rows)
            else:
                texts = self.grid.arms[source, own.splits[0].name, seed].ask[target].taken()
                probabilities = aligned(texts, asked[target], np.arange(len(texts)))
            assert other.family_labels is not None
            gold, renamed = other.in_family[other.data.labels[rows]], in_family(probabilities, own)
            runs.append(
                Run(f"{source}{ARROW}{target}", model, seed, gold, renamed, other.family_labels, groups, target)
            )
        return runs

    def _cells(self, view: str) -> dict[str, dict[str, list[Run]]]:
        """The runs of a view, by what is tested and by model; without those that failed."""
        grid, of = self.grid, dict[str, Callable[[str], list[Run]]]()
        if view == ORDINARY:
            of = {name: partial(self._on_splits, name, member.splits, name) for name, member in grid.members.items()}
        elif view == HARD:
            of = {name: partial(self._on_splits, name, [split], f"{name}, hard") for name, split in grid.hard.items()}
        else:
            pairs = [(name, other) for name in grid.members for other in grid.elsewhere(name)]
            of = {f"{name}{ARROW}{other}": partial(self._across, name, other) for name, other in pairs}
        made = {
            where: {model: runs for model in grid.bench.models if (runs := tell(model))} for where, tell in of.items()
        }
        return {where: cells for where, cells in made.items() if cells}

    @cached_property
    def boards(self) -> dict[str, Board]:
        """The board of every view that has a cell."""
        family = {name: member.table.family for name, member in self.grid.members.items()}
        boards = {}
        for view in VIEWS:
            if cells := self._cells(view):
                families = {where: own for where in cells if (own := family[where.partition(ARROW)[0]]) is not None}
                boards[view] = Board(cells, families, {"view": view})
        return boards

    def falls(self, metric: str, seed: int) -> Iterator[Measurement]:
        """From the ordinary score to the hard one; from a model trained at home to one that was trained elsewhere."""
        for view in (HARD, ELSEWHERE):
            for where, cells in self.boards[view].runs.items() if view in self.boards else ():
                for model, runs in cells.items():
                    home = self.boards[ORDINARY].runs.get(where, {}).get(model)
                    if view == ELSEWHERE:
                        target = where.rpartition(ARROW)[2]
                        home = self._across(target, target, model)
                    if home:
                        yield fall(home, runs, metric, tags={"view": view, "data": where, "model": model}, seed=seed)


def in_family(probabilities: Floats, member: BenchMember) -> Floats:
    """Probabilities in the labels of the family; what a model gives to labels that are left out is shared out."""
    assert member.family_labels is not None
    kept = member.in_family >= 0
    summed = np.zeros((len(probabilities), len(member.family_labels)))
    for label, place in enumerate(member.in_family):
        if place >= 0:
            summed[:, place] += probabilities[:, label]
    total = probabilities[:, kept].sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, summed / np.where(total > 0, total, 1), 1 / summed.shape[1]))


def bench(
    suite: str | Path,
    *,
    models: Sequence[str] = (),
    out: str | Path | None = None,
    engine: Engine | None = None,
    gates: Sequence[Gate | str] = (),
    trust: bool = False,
    command: str | None = None,
    announce: Callable[[BenchPlan], None] | None = None,
) -> Result:
    """Train every model of a suite on every dataset of it, and say which is better, by which number, and where.

    `suite` is a TOML file, `models` some of its models; `gates` are kept beside those of the file. Without `out` the
    folder is `out/SUITE`. Trainings are kept in the folder: called again, also with further models or datasets, a
    benchmark goes on where it stopped. With some of its models alone it is another run. What fails costs only its own
    cells.
    """
    chosen, out = read_bench(suite, gates=gates, trust=trust, models=models), out or folder_of(suite)
    _refuse_fewer(chosen, RunFolder(out))
    members = load_members(chosen)
    about = {"title": chosen.title, "suite": chosen.path.name}

    def work(folder: RunFolder) -> Output:
        results, runner = folder.results, Local() if engine is None else engine
        cuts = hard_steps(chosen, members)
        shared: dict[str, Any] = {name: _source(member) for name, member in members.items() if name in cuts}
        failures = carry_out_all(in_order(cuts.values()), runner, results, shared, "hard splits")
        hard = {
            name: replace(read_split(results.folder(step.key) / SPLIT, members[name].data), name=HARD)
            for name, step in cuts.items()
            if results.has(step.key)
        }
        grid = BenchGrid(chosen, members, hard)
        steps = list(grid.steps.values())
        if announce is not None:
            done = sum(results.has(step.key) for step in steps)
            sizes = {name: len(member.data) for name, member in members.items()}
            announce(BenchPlan(sizes, tuple(chosen.models), len(steps), done))
        arms = {arm.name: arm for arm in grid.arms.values()}
        failures |= carry_out_all(steps, runner, results, arms, "trainings")
        runs = BenchRuns(grid, results)
        rows = list(_floors(members, chosen))
        for board in runs.boards.values():
            rows += board_measurements(board, chosen.metrics, chosen.reference, chosen.file.seed)
        rows += runs.falls(chosen.file.metric, chosen.file.seed)
        findings = [finding for member in members.values() for finding in member.findings()]
        findings += [Finding(f"failed[{step}]", "fail", f"{step}: {why}") for step, why in failures.items()]
        return Output(rows, findings, _about(grid, results), splits=grid.splits)

    return carry_through("bench", about, work, out=out, command=command, gates=chosen.gates)


def plan_bench(
    suite: str | Path,
    *,
    models: Sequence[str] = (),
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    trust: bool = False,
) -> BenchPlan:
    """What a benchmark would do; nothing is written. Trainings on hard splits are known only when these are made."""
    chosen, folder = read_bench(suite, gates=gates, trust=trust, models=models), RunFolder(out or folder_of(suite))
    _refuse_fewer(chosen, folder)
    members = load_members(chosen)
    grid, results = BenchGrid(chosen, members, {}), folder.results
    steps = list(grid.steps.values())
    sizes = {name: len(member.data) for name, member in members.items()}
    hard = len(members) * sum(chosen.trainings.values()) if chosen.file.hard is not None else 0
    return BenchPlan(sizes, tuple(chosen.models), len(steps) + hard, sum(results.has(step.key) for step in steps))


def _refuse_fewer(bench: BenchSuite, folder: RunFolder) -> None:
    """Refuse a finished benchmark of models that are not picked: they would be gone from it."""
    about = read_json(folder / ABOUT) if (folder / ABOUT).exists() else {}
    held = about.get("models", {}) if about.get("finished") else {}
    if left_out := [name for name in held if name in bench.file.model and name not in bench.models]:
        raise InputError(
            f"{folder.path} holds this benchmark with more models: {some(left_out)}",
            fix="name another folder, or pick these models too",
        )


def hard_steps(bench: BenchSuite, members: Mapping[str, BenchMember]) -> dict[str, Step]:
    """The cut of each dataset, of the share that its ordinary split tests."""
    table = bench.file.hard
    if table is None:
        return {}
    model = bench.models.get(table.model or bench.reference)
    if model is None:
        raise InputError(f"[hard] model: {table.model!r} is not among the models of this run")
    space, seed, steps = Space(model, table.space), bench.file.seed, {}
    for name, member in members.items():
        share = len(member.splits[0].rows("test")) / len(member.data)
        cut = Cut(
            f"{HARD} {name}", table.split, space_cut(space, table.split), seed, child_seed(seed, HARD),
            round(share, 3), groups=UNIT,
        )  # fmt: skip
        steps[name] = split_step(_source(member), cut, seed)
    return steps


def _source(member: BenchMember) -> Source:
    return Source(member.name, member.data, np.zeros(len(member.data), bool))


def _floors(members: Mapping[str, BenchMember], bench: BenchSuite) -> Iterator[Measurement]:
    """What guessing by the class mix has."""
    chosen = metric_of(bench.file.metric)
    for name, member in members.items():
        data = member.data
        mix = np.bincount(data.labels, minlength=len(data.label_names)) / len(data)
        value = chance(chosen, data.labels, mix, data.label_names)
        yield Measurement(f"chance.{chosen.id}", value, len(data), tags={"view": ORDINARY, "data": name})


def _about(grid: BenchGrid, results: Results) -> dict[str, Any]:
    bench = grid.bench
    costs = []
    for name in bench.models:
        done = [results.record(step.key) for (model, _), step in grid.steps.items() if model == name
                and results.has(step.key)]  # fmt: skip
        spent = {kind: round(sum(record[kind] for record in done), 1) for kind in ("seconds", "cpu_seconds")}
        steps = [step for (model, _), step in grid.steps.items() if model == name]
        costs.append({
            "model": name, "trainings": len(done), **spent, "speeds": summed_costs(folders_of(steps, results)),
        })  # fmt: skip
    return {
        "settings": {
            "metric": bench.file.metric, "metrics": bench.metrics, "seed": bench.file.seed,
            "trainings": dict(bench.trainings), "folds": bench.file.folds, "posts": bench.file.posts,
            "reference": bench.reference,
            "hard": None if bench.file.hard is None else bench.file.hard.model_dump(),
            "file": bench.path.read_text(encoding="utf-8"),
        },
        "datasets": {name: member.described for name, member in grid.members.items()},
        "tested_elsewhere": {name: len(rows) for name, rows in grid.tested.items()},
        "models": {name: model.described for name, model in bench.models.items()},
        "splits": {
            file_name(name): HARD if split.name == HARD else ORDINARY for name, split in grid.splits.items()
        },
        "costs": costs,
    }  # fmt: skip
