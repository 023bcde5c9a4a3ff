"""Trained on one dataset, tested on another, from data to report."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from unseen.engines.steps import timings
from unseen.errors import InputError
from unseen.evaluation.gates import Gate
from unseen.runs.experiment import Arm, answers
from unseen.runs.frame import Output, Result, carry_through
from unseen.runs.spaces import Model
from unseen.runs.transfer.corpus import Corpus
from unseen.runs.transfer.members import Member, check_positive, members
from unseen.runs.transfer.overlap import overlap_findings, overlaps
from unseen.runs.transfer.scores import Answers, matrix
from unseen.runs.transfer.training_sets import Extras, TrainingSet, training_sets
from unseen.runs.transfer_file import DatasetEntry, Datasets, read_datasets
from unseen.store import write_predictions, write_split
from unseen.store.files import file_name
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding

TEST = 0.2
"""Share of the rows for testing, where no split is published."""
MOST_SEEDS = 20
Given = Mapping[str, DatasetEntry | Dataset | str] | Datasets | str | Path


@dataclass(frozen=True)
class TransferPlan:
    """What a run will do."""

    texts: Mapping[str, Mapping[str, int]]
    """Rows per part, by dataset."""
    training_sets: Mapping[str, int]
    """Training rows by name."""
    trainings: int
    done: int


@dataclass(frozen=True, eq=False)
class Work:
    """Everything that is settled before the first training."""

    corpus: Corpus
    sets: Sequence[TrainingSet]
    model: Model
    seeds: Sequence[int]

    @property
    def arms(self) -> dict[tuple[str, int], Arm]:
        """The trainings, by training set and seed."""
        found = {}
        for each in self.sets:
            train, dev = (self.corpus.data.take(rows) for rows in (each.train, each.dev))
            for seed in self.seeds:
                found[each.name, seed] = Arm(f"{each.name}, seed {seed}", train, dev, self.corpus.tests, seed)
        return found


def transfer(
    datasets: Given,
    *,
    model: str = "minilm",
    params: Mapping[str, Any] | None = None,
    labels: Sequence[str] | None = None,
    positive: str | None = None,
    seeds: int = 3,
    seed: int = 42,
    test: float | None = None,
    groups: str | None = None,
    merge: bool = False,
    cap: int | None = None,
    cap_by: str | None = None,
    matched: bool = False,
    out: str | Path = "out",
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[TransferPlan], None] | None = None,
) -> Result:
    """Train on each dataset, test on each, and measure how much of a score is left elsewhere.

    `datasets` is a TOML file (`read_datasets`), or datasets by name: a `DatasetEntry`, a Dataset, or what `unseen.load`
    loads. `labels` are the labels of all of them, in order; without, all must have the same. Each is trained on
    `seeds` times, on one and the same split; `test` is the share for testing (0.2) where none is published. `groups`
    is the attribute that stays on one side where an entry names none. `merge` adds a training on all together, `cap`
    trainings on at most so many texts per group (`cap_by`) and label, `matched` cuts every training set to the size
    of the smallest. Called again with the same folder, it goes on where it stopped.
    """
    given = _given(datasets, labels, positive, groups)
    chosen, extras = _settled(model, params, seeds), Extras(merge, cap, cap_by, matched)
    share = _share(given, test)
    found = members(given.entries, given.labels, also=[cap_by] if cap_by else [], test=share, seed=seed)
    corpus = Corpus.of(found)
    check_positive(given.positive, corpus.data.label_names)
    sets, findings = training_sets(corpus, extras, seed)
    _refuse_same_files([each.name for each in sets])
    work = Work(corpus, sets, chosen, range(seed, seed + seeds))
    settings = {"labels": corpus.data.label_names, "positive": given.positive, "test": share, "seed": seed}
    about = _about(work, settings | {"seeds": seeds} | asdict(extras) | {"params": dict(params or {})})

    def trained(folder: RunFolder | None) -> Output:
        assert folder is not None
        return _trained(work, findings, folder, workers, announce, seed)

    return carry_through("transfer", about, trained, out=out, command=command, gates=gates)


def _trained(
    work: Work, findings: Sequence[Finding], folder: RunFolder, workers: int,
    announce: Callable[[TransferPlan], None] | None, seed: int,
) -> Output:  # fmt: skip
    arms = work.arms
    steps = [arm.step(work.model) for arm in arms.values()]
    if announce is not None:
        announce(_plan(work, len({step.key for step in steps}), folder, [step.key for step in steps]))
    overlapping = overlaps(work.corpus, work.sets, seed)
    asked = answers(list(arms.values()), work.model, folder.results, workers=workers)
    predictions: Answers = {place: asked[arm.name] for place, arm in arms.items()}
    _publish(work.corpus, predictions, folder)
    return Output(
        matrix(work.corpus, work.sets, predictions, overlapping, seed).measurements(),
        [*overlap_findings(work.corpus, overlapping), *findings],
        {"timings": timings(steps, folder.results)},
    )


def _publish(corpus: Corpus, answers: Answers, folder: RunFolder) -> None:
    """Put splits and predictions where people look for them; what other settings left is gone."""
    for stale in ("predictions", "splits", "tables"):
        shutil.rmtree(folder / stale, ignore_errors=True)
    for member in corpus.members:
        write_split(member.parts, folder / "splits" / f"{file_name(member.name)}.csv")
    for (name, seed), asked in answers.items():
        for test, predictions in asked.items():
            file = f"{file_name(test)}.seed-{seed}.parquet"
            write_predictions(predictions, folder / "predictions" / file_name(name) / file)


def _given(
    datasets: Given, labels: Sequence[str] | None, positive: str | None, groups: str | None
) -> Datasets:  # fmt: skip
    """The datasets and their labels, whichever way they were said."""
    if isinstance(datasets, str | Path):
        datasets = read_datasets(datasets)
    if not isinstance(datasets, Datasets):
        entries = {
            name: each if isinstance(each, DatasetEntry) else DatasetEntry(each) for name, each in datasets.items()
        }
        datasets = Datasets(entries)
    if labels is not None and datasets.labels is not None:
        raise InputError("labels are declared twice", fix="in the file, or as labels=…, not both")
    entries = {
        name: each if each.groups or groups is None else replace(each, groups=groups)
        for name, each in datasets.entries.items()
    }
    if groups is not None and all(each.groups for each in datasets.entries.values()):
        raise InputError("groups has no effect: every dataset names its own", fix="leave it out")
    declared = datasets.labels if labels is None else tuple(labels)
    return Datasets(entries, declared, datasets.positive if positive is None else positive)


def _share(given: Datasets, test: float | None) -> float:
    if test is not None and all(each.split is not None for each in given.entries.values()):
        raise InputError("test has no effect: every dataset has a published split", fix="leave it out")
    return TEST if test is None else test


def _settled(model: str, params: Mapping[str, Any] | None, seeds: int) -> Model:
    if not 1 <= seeds <= MOST_SEEDS:
        raise InputError("seeds is how many trainings there are of each kind", expected="1 to 20", got=str(seeds))
    chosen = Model(model, dict(params or {}))
    chosen.check()
    return chosen


def _refuse_same_files(names: Sequence[str]) -> None:
    files = [file_name(name).casefold() for name in names]
    for place, name in enumerate(names):
        if files.index(files[place]) < place:
            raise InputError(
                f"the files of {name!r} and {names[files.index(files[place])]!r} would have one name",
                fix="name the datasets otherwise",
            )


def _plan(work: Work, trainings: int, folder: RunFolder, keys: Sequence[str]) -> TransferPlan:
    texts = {each.name: each.parts.sizes for each in work.corpus.members}
    sets = {each.name: len(each.train) for each in work.sets}
    return TransferPlan(texts, sets, trainings, sum(folder.results.has(key) for key in dict.fromkeys(keys)))


def _about(work: Work, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "model": work.model.use,
        "settings": dict(settings),
        "datasets": {each.name: _of_member(work.corpus, each) for each in work.corpus.members},
        "training_sets": {
            each.name: {
                "of": each.of, "rows": len(each.train), "dev": len(each.dev), "uncapped": each.uncapped,
                "counts": work.corpus.data.take(each.train).label_counts,
            }
            for each in work.sets
        },
    }  # fmt: skip


def _of_member(corpus: Corpus, member: Member) -> dict[str, Any]:
    source = member.entry.source
    return {
        "source": source.name if isinstance(source, Dataset) else Path(source).name,
        "rows": len(member.data),
        "map": dict(member.entry.map),
        "left_out": dict(member.left_out),
        "groups": member.entry.groups,
        "split": None if member.entry.split is None else Path(member.entry.split).name,
        "counts": corpus.sizes(member.name),
        "fingerprint": member.data.fingerprint,
    }
