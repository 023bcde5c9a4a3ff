"""A study as a graph of steps: every cell of its experiments, each step once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from unseen.engines import Step, in_order
from unseen.errors import InputError
from unseen.reports.study_tables import Cell
from unseen.runs.measurement_steps import Scoring, findings_step, map_step, properties_step, scores_step
from unseen.runs.source import Source, load_source
from unseen.runs.spaces import Model, Space
from unseen.runs.study_file import OWN_MODEL, Splits, Study
from unseen.runs.training_steps import (
    BASELINE,
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
from unseen.types import Dataset


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

    def cuts(self, cell: Cell) -> dict[str, Cut]:
        """The splits of a cell by name, one per seed."""
        splits = self._way(cell)
        groups = self.study.data[cell.data].groups
        cuts = {}
        for seed in splits.seeds:
            name = ".".join(filter(None, (cell.data, cell.space, cell.family, str(seed))))
            space = space_cut(self.study.spaces[cell.space], splits.use) if cell.space else None
            cuts[name] = Cut(name, splits.use, space, seed, seed, cell.test, cell.dev, groups, splits.knobs)
        return cuts

    def split_step(self, cell: Cell, cut: Cut) -> Step:
        """The step that makes a split."""
        return split_step(self.sources[cell.data], cut, self.study.seed)

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
            made = self.split_step(cell, cut)
            for seed in self._seeds(cell, number):
                called = f"{cell.model} on {name} seed {seed}"
                training = train_step(source, made, model, seed, called, others)
                seen = seen_steps(training, folds, kept_whole(source, splits.use, self.study.data[cell.data].groups))
                trainings.append(PlannedTraining(name, cell.family, seed, made, training, seen))
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
        named = ((name, cell, cut) for cell in self.cells for name, cut in self.cuts(cell).items())
        return {name: (cell, self.split_step(cell, cut)) for name, cell, cut in named}

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
