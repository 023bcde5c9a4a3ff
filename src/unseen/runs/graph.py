"""A stress run as a graph of steps."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from unseen.engines import Step, in_order
from unseen.progress import track
from unseen.reports.actions import SUSPECTS
from unseen.roles import Engine
from unseen.runs.describing import CLUSTERS, EXAMPLES, MAP
from unseen.runs.folder import RunFolder
from unseen.runs.measuring import FINDINGS, MEASUREMENTS, PROPERTIES
from unseen.runs.settings import BASELINE, Settings
from unseen.runs.source import Source
from unseen.runs.steps import (
    SUITE,
    Cut,
    PlannedTraining,
    Scoring,
    behaviour_step,
    bias_step,
    clusters_step,
    findings_step,
    given_split_step,
    kept_whole,
    label_noise_step,
    leaks_step,
    map_step,
    properties_step,
    reads_vectors,
    scores_step,
    seen_steps,
    space_cut,
    space_step,
    split_step,
    stability_step,
    train_step,
)
from unseen.runs.work import MODEL, PREDICTIONS, SPLIT, VECTORS
from unseen.splits import SPLITTERS
from unseen.store import (
    read_findings,
    read_measurements,
    read_split,
    read_suspects,
    write_measurements,
    write_split,
    write_suspects,
)
from unseen.store.results import Results
from unseen.types import Dataset, Finding, Measurement


@dataclass(frozen=True, eq=False)
class Graph:
    """The steps of one stress run."""

    source: Source
    settings: Settings
    suite: Dataset | None = None

    @cached_property
    def space(self) -> Step:
        """The latent space that is split."""
        return space_step(self.source, self.settings.space, self.settings.seed)

    @cached_property
    def cuts(self) -> dict[str, Step]:
        """Every split by name."""
        return {name: self._cut(name, family) for name, family in self.settings.families}

    def _cut(self, name: str, family: str) -> Step:
        settings = self.settings
        if family in settings.given_splits:
            return given_split_step(self.source, name, settings.dev, settings.seed)
        number = int(name.rpartition("-")[2]) if family == BASELINE else 0
        return self._made(name, family, settings.seed + number, settings.seed)

    def _made(self, name: str, family: str, random_state: int, space_seed: int) -> Step:
        settings, space = self.settings, space_cut(self.settings.space, family)
        takes = "n_clusters" in inspect.signature(SPLITTERS.get(family)).parameters
        knobs = {"n_clusters": settings.clusters} if settings.clusters and takes else {}
        cut = Cut(name, family, space, random_state, settings.seed, settings.test, settings.dev, settings.groups, knobs)
        return split_step(self.source, cut, space_seed)

    @cached_property
    def stability(self) -> list[Step]:
        """How far the splits of a latent space stay the same when the space is made from other seeds."""
        seeds = [self.settings.seed + number for number in range(1, self.settings.space_seeds + 1)]
        latent = [family for family in self.settings.splits if reads_vectors(family)]
        cuts = {
            family: [self.cuts[family], *(self._made(f"{family} seed {seed}", family, seed, seed) for seed in seeds)]
            for family in latent
        }
        return [stability_step(self.source, cuts)] if seeds and latent else []

    @cached_property
    def trained(self) -> list[PlannedTraining]:
        """Every training on a split."""
        settings, found = self.settings, []
        for name, family, seed in settings.runs:
            cut = self.cuts[name]
            training = train_step(self.source, cut, settings.space.model, seed, f"{name}-seed{seed}")
            folds = 0 if family == BASELINE else settings.seen_folds
            # a split of others may hold groups out
            groups = None if family in settings.given_splits else settings.groups
            seen = seen_steps(training, folds, kept_whole(self.source, family, groups))
            found.append(PlannedTraining(name, family, seed, cut, training, seen))
        return found

    def of_family(self, family: str) -> list[PlannedTraining]:
        """The trainings on splits of one family."""
        return [each for each in self.trained if each.family == family]

    @cached_property
    def asked(self) -> Scoring:
        """What is measured."""
        settings = self.settings
        tags = {"model": settings.model}
        return Scoring(settings.metric, settings.slices, settings.groups, settings.agreement, settings.seed, tags)

    @cached_property
    def scores(self) -> list[Step]:
        """Scores of every family, and its fall against random splits."""
        control = self.of_family(BASELINE)
        return [
            scores_step(self.source, self.of_family(family), control if family != BASELINE else [], self.asked)
            for family in self.settings.methods
        ]

    @cached_property
    def findings(self) -> list[Step]:
        """Of every family that is not random, whether it is hard or broken."""
        control = self.of_family(BASELINE)
        return [
            findings_step(self.source, self.of_family(family), control, self.asked) for family in self.settings.hard
        ]

    @cached_property
    def leaks(self) -> Step:
        """What lies on both sides of each split."""
        return leaks_step(self.source, self.cuts, self.settings.groups, self.settings.seed)

    @cached_property
    def properties(self) -> list[Step]:
        """The properties of every split."""
        return [
            properties_step(self.source, cut, self.space, name, self.settings.neutral)
            for name, cut in self.cuts.items()
        ]

    @cached_property
    def bias(self) -> list[Step]:
        """Groups compared on every family of splits, where an attribute names them."""
        settings = self.settings
        if settings.bias is None:
            return []
        return [
            bias_step(
                self.source, self.of_family(family), settings.bias, settings.positive, settings.fewest, self.asked
            )
            for family in settings.methods
        ]

    @cached_property
    def behaviour(self) -> list[Step]:
        """What the model passes of a suite, where there is one."""
        settings = self.settings
        if self.suite is None:
            return []
        rename, tags = settings.suite_map, {"model": settings.model}
        return [behaviour_step(self.source, self.suite, settings.space, rename, settings.seed, tags)]

    @property
    def shared(self) -> dict[str, Any]:
        """What steps share in memory."""
        return {self.source.name: self.source} | ({} if self.suite is None else {SUITE: self.suite})

    @cached_property
    def map(self) -> Step:
        """The texts in the plane."""
        return map_step(self.source, self.space, self.cuts, self.settings.seed)

    @cached_property
    def clusters(self) -> Step:
        """What the clusters hold."""
        return clusters_step(self.source, self.space, self.cuts, self.settings.texts)

    @cached_property
    def witness(self) -> Step:
        """What a light model says about labels that it has not seen."""
        return label_noise_step(self.source, self.settings.seed)

    @property
    def first(self) -> list[Step]:
        """The space and the splits, which tell whether the rest is possible."""
        return in_order([self.space, *self.cuts.values()])

    @property
    def long(self) -> list[Step]:
        """Everything that takes long: space, splits, trainings, the witness of label noise."""
        trainings = [step for each in self.trained for step in (each.training, *each.seen)]
        others = [step for stability in self.stability for step in stability.needs.values()]
        return in_order([self.space, *self.cuts.values(), self.witness, *trainings, *others])

    @property
    def short(self) -> list[Step]:
        """What is measured afterwards."""
        done = {step.key for step in self.long}
        wanted = [
            *self.scores, *self.findings, *self.stability, self.leaks, *self.bias, *self.behaviour, *self.properties,
            self.map, self.clusters,
        ]  # fmt: skip
        return [step for step in in_order(wanted) if step.key not in done]

    def publish(self, folder: RunFolder) -> tuple[list[Measurement], list[Finding]]:
        """Put the results where people look for them; the measurements and findings."""
        folder.publish(self.space.key, VECTORS, f"vectors/{self.settings.space.called}.npy")
        folder.publish(self.space.key, MODEL, "models/representation")
        tests: dict[str, set[str]] = {}
        for name, cut in self.cuts.items():
            split = read_split(folder.results.folder(cut.key) / SPLIT, self.source.data)
            tests[name] = set(split.ids.take(pa.array(split.rows("test"))).to_pylist())
            write_split(replace(split, name=name), folder / "splits" / f"{name}.csv")
        for each in self.trained:
            folder.publish(each.training.key, PREDICTIONS, f"predictions/{each.split}-seed{each.seed}.parquet")
        folder.publish(self.witness.key, PREDICTIONS, "predictions/cross-validated.parquet")
        self._publish_suspects(folder, tests)
        for step in self.behaviour:
            folder.publish(step.key, PREDICTIONS, "predictions/suite.parquet")
        folder.publish(self.map.key, MAP, MAP)
        folder.publish(self.clusters.key, CLUSTERS, CLUSTERS)
        (folder / EXAMPLES).unlink(missing_ok=True)
        folder.publish(self.clusters.key, EXAMPLES, EXAMPLES)
        return self._rows(folder)

    def _publish_suspects(self, folder: RunFolder, tests: Mapping[str, set[str]]) -> None:
        """The suspect labels, each with its place in the data and the splits that test it."""
        found = read_suspects(folder.results.folder(self.witness.key) / SUSPECTS)
        places = self.source.data.places_of([each.id for each in found])
        write_suspects(
            (
                replace(each, row=places[each.id], test_of=tuple(name for name, ids in tests.items() if each.id in ids))
                for each in found
            ),
            folder / SUSPECTS,
        )

    def _rows(self, folder: RunFolder) -> tuple[list[Measurement], list[Finding]]:
        def rows(steps: Sequence[Step], file: str, read: Callable[..., list[Any]]) -> list[Any]:
            return [row for step in steps for row in read(folder.results.folder(step.key) / file)]

        steps = [*self.scores, *self.findings, *self.stability, self.leaks, *self.bias, *self.behaviour]
        write_measurements(rows(self.properties, PROPERTIES, read_measurements), folder / PROPERTIES)
        findings = rows([*self.findings, self.leaks], FINDINGS, read_findings)
        return rows(steps, MEASUREMENTS, read_measurements), findings


def carry_out(steps: Sequence[Step], engine: Engine, results: Results, shared: Mapping[str, Any], work: str) -> None:
    """Do all steps; the first that fails ends it."""
    open_ = sum(not results.has(step.key) for step in steps)
    for outcome in track(engine.run(steps, results, shared), work, open_):
        if outcome.error is not None:
            raise outcome.error


def timings(steps: Sequence[Step], results: Results) -> list[dict[str, Any]]:
    """Seconds of each finished step."""
    return [
        {"step": step.name, "seconds": results.record(step.key)["seconds"]} for step in steps if results.has(step.key)
    ]
