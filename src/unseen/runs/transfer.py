"""Trained on one dataset, tested on another: what is left of a score elsewhere.

The datasets come under common labels into one corpus, each with its parts. Training sets are rows of the corpus: each
dataset, all together, and both with few texts of each group. Scores and falls are told again without test texts that
stand in training data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unseen import api
from unseen.audits.subject import Subject
from unseen.engines.steps import timings
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate
from unseen.evaluation.measurements import drawn_groups
from unseen.progress import track
from unseen.runs.experiment import Arm, Chosen, Contrast, Level, answers, measured, trainings_done
from unseen.runs.frame import Output, Result, carry_through
from unseen.runs.spaces import Model
from unseen.runs.transfer_file import TEST, DatasetEntry, Datasets, Member, members, read_datasets
from unseen.seeding import generator
from unseen.splits.quotas import within_cap
from unseen.store.files import file_name
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, Predictions, as_names, some
from unseen.types.arrays import Mask, Rows

CAP = 250
"""Texts per group and label, as Arango et al. (2019) cut theirs."""
MOST_TRAININGS = 20
MERGED, MAJORITY, CAPPED = "merged", "majority", " capped"
OTHERS, ALL, OWN = "the others", "all tests", "its own"
RESERVED = (MERGED, MAJORITY, OTHERS, ALL, OWN, f"{MERGED}{CAPPED}")
"""Names in the tables that no dataset may have."""
WITHOUT = "without overlap"
"""The slice of test texts that stand in no training set concerned."""
KINDS = ("exact", "normalised", "near")
"""Ways for a test text to stand elsewhere, from the strictest to the loosest."""
MUCH = 0.01
"""Share of the test texts from which on an overlap is a failure."""
SHOWN = 10
Cell = tuple[str, str]
"""What a model was trained on and what it was tested on."""
Given = Mapping[str, DatasetEntry | Dataset | str] | Datasets | str | Path


@dataclass(frozen=True, eq=False)
class Corpus:
    """The texts of all datasets, one dataset after the other; an id begins with the name of its dataset."""

    members: Mapping[str, Member]

    @cached_property
    def data(self) -> Dataset:
        """All texts."""
        tables = []
        for name, member in self.members.items():
            ids = pa.array([f"{name}/{id_}" for id_ in member.data.ids.to_pylist()], pa.large_string())
            table = member.data.table.select(["id", "text", "label"]).set_column(0, "id", pa.chunked_array([ids]))
            table = table.set_column(1, "text", table["text"].cast(pa.large_string()))
            tables.append(table.unify_dictionaries())
        label_names = next(iter(self.members.values())).data.label_names
        return Dataset("corpus", pa.concat_tables(tables), label_names)

    @property
    def names(self) -> list[str]:
        """Names of the datasets."""
        return list(self.members)

    @cached_property
    def starts(self) -> dict[str, int]:
        """The first row of each dataset."""
        ends = np.cumsum([0, *(len(member.data) for member in self.members.values())]).tolist()
        return dict(zip(self.members, ends[:-1], strict=True))

    def rows(self, name: str, part: str) -> Rows:
        """Rows of one part of one dataset."""
        return self.starts[name] + self.members[name].rows(part)

    @cached_property
    def tests(self) -> dict[str, Dataset]:
        """The test set of each dataset."""
        return {name: self.data.take(self.rows(name, "test")) for name in self.members}

    def runs(self, predictions: Mapping[tuple[str, int], Mapping[str, Predictions]]) -> dict[Cell, list[Run]]:
        """The runs of every cell, of predictions by training set and seed, then by test set."""
        runs: dict[Cell, list[Run]] = {}
        for (train, seed), asked in predictions.items():
            for test, data in self.tests.items():
                member, called = self.members[test], f"{train} → {test}"
                run = member.run(data, asked[test], split=called, family=train, seed=seed)
                runs.setdefault((train, test), []).append(run)
        return runs


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows of the corpus to learn from."""

    of: tuple[str, ...]
    """Datasets that it is made of."""
    train: Rows
    dev: Rows
    uncapped: str | None = None
    """Name of the set that it was cut from."""


@dataclass(frozen=True)
class Extras:
    """Training sets besides the datasets themselves."""

    pooled: bool = False
    cap: int | None = None
    cap_by: str | None = None
    matched: bool = False

    def __post_init__(self) -> None:
        if self.cap is not None and self.cap < 1:
            raise InputError("cap is how many texts of each group and label may stay", got=str(self.cap))
        if self.cap_by is not None and self.cap is None:
            raise InputError("cap_by has no effect without cap", fix=f"cap={CAP} (--cap {CAP})")


def training_sets(corpus: Corpus, extras: Extras, seed: int) -> tuple[dict[str, TrainingSet], list[Finding]]:
    """The sets that models are trained on, by name, and what was found when texts were taken out of them."""
    made_of = {name: (name,) for name in corpus.members} | ({MERGED: tuple(corpus.members)} if extras.pooled else {})
    sets, findings = dict[str, TrainingSet](), list[Finding]()
    for name, of in made_of.items():
        train, dev = (np.concatenate([corpus.rows(one, part) for one in of]) for part in ("train", "dev"))
        sets[name] = TrainingSet(of, train, dev)
    if extras.cap is not None:
        gone, findings = _over_cap(corpus, extras.cap, extras.cap_by, seed)
        for name, whole in list(sets.items()):
            train = whole.train[~np.isin(whole.train, gone)]
            if len(train) < len(whole.train):
                sets[f"{name}{CAPPED}"] = replace(whole, train=train, uncapped=name)
    if extras.matched:
        size = min(len(whole.train) for whole in sets.values())
        sets = {name: _matched(corpus.data, whole, size, seed) for name, whole in sets.items()}
    return sets, findings


def _over_cap(corpus: Corpus, cap: int, cap_by: str | None, seed: int) -> tuple[Rows, list[Finding]]:
    """Training rows beyond the cap, drawn at random, and what is said of each dataset that has groups."""
    gone, findings = [], []
    for name, member in corpus.members.items():
        by, rows = cap_by or member.entry.groups, member.rows("train")
        if by is None or by not in member.data.attributes:
            continue
        groups = drawn_groups(member.data.attribute(by))[rows].astype(np.int64)
        cells = groups * len(member.data.label_names) + member.data.labels[rows]
        over = rows[~within_cap(cells, cap, generator(seed, "cap", name))]
        gone.append(corpus.starts[name] + over)
        findings.append(_cap_finding(name, by, cap, len(rows), len(over)))
    if not gone and cap_by is not None:
        known = dict.fromkeys(name for member in corpus.members.values() for name in member.data.attributes)
        raise UnknownNameError.of("attribute of any dataset", cap_by, known)
    if not gone:
        raise InputError(
            "cap has no effect: no dataset has groups", fix="name the attribute: groups=… or cap_by=… (--cap-by)"
        )
    return np.concatenate(gone), findings


def _cap_finding(name: str, by: str, cap: int, train: int, out: int) -> Finding:
    if not out:
        message = f"No value of {by} has more than {cap} texts of one label in what {name} trains on"
        return Finding(f"cap[{name}]", "skipped", f"{message}, so nothing was capped.", advice="Lower the cap.")
    message = f"At most {cap} texts per {by} and label leave {train - out:,} of {train:,} training texts of {name}."
    return Finding(f"cap[{name}]", "ok", message, out)


def _matched(data: Dataset, whole: TrainingSet, size: int, seed: int) -> TrainingSet:
    """The set with so many training texts, with its mix of labels."""
    if len(whole.train) == size:
        return whole
    drawn = api.split(data.take(whole.train), "random", test=size, seed=seed, name="matched").rows("test")
    return replace(whole, train=whole.train[drawn])


@dataclass(frozen=True, eq=False)
class SeenTexts:
    """Test texts that stand among others: in what a model trains on, or in a corpus."""

    tags: Mapping[str, str]
    """What is tested, and what they stand in."""
    kinds: Mapping[str, Mask]
    """By kind, over the test texts; looser kinds hold the stricter ones."""
    ids: tuple[str, ...]
    """Of a few of them."""

    @property
    def near(self) -> Mask:
        """Test texts that stand there, word for word or nearly."""
        return self.kinds["near"]

    @property
    def count(self) -> int:
        """How many they are."""
        return int(self.near.sum())

    @property
    def ways(self) -> str:
        """How many of them stand there in which way."""
        exact, normalised = (int(self.kinds[kind].sum()) for kind in KINDS[:2])
        return (
            f"{exact:,} word for word, {normalised - exact:,} but for case, punctuation, handles and links, "
            f"{self.count - normalised:,} nearly"
        )

    def measurements(self, name: str) -> list[Measurement]:
        """`NAME.KIND`: shares of the test texts."""
        return [
            Measurement(f"{name}.{kind}", float(rows.mean()), len(rows), tags=self.tags)
            for kind, rows in self.kinds.items()
        ]


def rows_like(subject: Subject, kind: str, ours: Rows, theirs: Rows) -> Mask:
    """Which of our rows are like one of theirs."""
    pairs = subject.alike(kind)
    assert pairs is not None, "texts can always be compared"
    return subject.mask(pairs.across(subject.mask(ours), subject.mask(theirs))[0])[ours]


class Overlap(SeenTexts):
    """Test texts of one dataset that stand in one training set; `conflict` are those that have another label there."""

    def finding(self) -> Finding:
        """What that means."""
        train, test, n = self.tags["train"], self.tags["test"], len(self.near)
        check = f"overlap[{train} → {test}]"
        where = "its own training data" if train == test else f"what {train} trains on"
        if not self.count:
            return Finding(check, "ok", f"None of the {n:,} test texts of {test} is in {where}.")
        conflicts = int(self.kinds["conflict"].sum())
        message = f"{self.count:,} of {n:,} test texts of {test} are in {where}: {self.ways}"
        message += f"; {conflicts:,} of them with another label there." if conflicts else "."
        advice = "Read the scores without these texts, or take them out of one of the datasets."
        if train == test:
            advice = (
                "They raise the score that others are compared with: read scores without them, or repair the split."
            )
        return Finding(check, "fail" if self.count >= MUCH * n else "warn", message, self.count, self.ids, advice)


def overlaps(corpus: Corpus, sets: Mapping[str, TrainingSet], seed: int) -> dict[Cell, Overlap]:
    """The overlap of every test part with every training set: what an audit of the two would find."""
    subject = Subject(corpus.data, seed=seed)
    return {place: _overlap(corpus, subject, sets[place[0]], place) for place in product(sets, corpus.members)}


def _overlap(corpus: Corpus, subject: Subject, known: TrainingSet, place: Cell) -> Overlap:
    train, test = place
    rows, learnt, labels = corpus.rows(test, "test"), np.concatenate([known.train, known.dev]), corpus.data.labels
    kinds = {kind: rows_like(subject, kind, rows, learnt) for kind in KINDS}
    kinds["conflict"] = np.zeros(len(rows), bool)
    for label in np.unique(labels[rows]):
        own = labels[rows] == label
        kinds["conflict"][own] = rows_like(subject, "near", rows[own], learnt[labels[learnt] != label])
    ids = corpus.data.ids.take(rows[kinds["near"]][:SHOWN]).to_pylist()
    return Overlap({"train": train, "test": test}, kinds, tuple(ids))


@dataclass(frozen=True, eq=False)
class TransferMatrix:
    """The runs of every cell, and what is measured of them: scores, and falls from the diagonal."""

    corpus: Corpus
    sets: Mapping[str, TrainingSet]
    runs: Mapping[Cell, list[Run]]
    overlaps: Mapping[Cell, Overlap]
    seed: int

    @property
    def elsewhere(self) -> list[Cell]:
        """Trained on one dataset, tested on another."""
        return [(train, test) for train, test in product(self.corpus.names, self.corpus.names) if train != test]

    @property
    def measures(self) -> list[Level | Contrast]:
        """Every score and fall; where test texts were seen in training, without them too."""
        return [*self._levels(), *self._falls(), *self._means()]

    def _levels(self) -> Iterator[Level]:
        """Of each cell, and of always giving the most frequent label of the dataset's own training part."""
        for (train, test), runs in self.runs.items():
            tags, kept = {"train": train, "test": test}, ~self.overlaps[train, test].near
            yield Level(runs, tags, singly=True)
            if not kept.all():
                yield Level([run.only(kept) for run in runs] if kept.any() else [], tags, WITHOUT)
        for name, member in self.corpus.members.items():
            own, names = self.runs[name, name][0], member.data.label_names
            most = np.bincount(member.data.labels[member.rows("train")], minlength=len(names)).argmax()
            probabilities = np.tile(np.eye(len(names))[most], (len(own.gold), 1))
            run = replace(own, family=MAJORITY, seed=self.seed, probabilities=probabilities)
            yield Level([run], {"train": MAJORITY, "test": name})

    def _falls(self) -> Iterator[Contrast]:
        """From the diagonal: another training set for the same test, and another test for the same training set."""
        pairs: dict[tuple[Cell, Cell], None] = {}
        for (train, chosen), test in product(self.sets.items(), self.corpus.names):
            cell, own = (train, test), (test, test)
            if cell != own:
                pairs[own, cell] = None
            if chosen.uncapped is not None:
                pairs[(chosen.uncapped, test), cell] = None
        pairs |= {((train, train), (train, test)): None for train, test in self.elsewhere}
        for before, after in pairs:
            tags = {"train": after[0], "test": after[1], "than_train": before[0], "than_test": before[1]}
            yield from self._fall([before], [after], tags)

    def _means(self) -> Iterator[Level | Contrast]:
        """Mean score and mean fall elsewhere, by training set, by test set, and of all; of merged sets on all tests."""
        names, made_of = self.corpus.names, {train: chosen.of for train, chosen in self.sets.items()}
        single = [train for train, of in made_of.items() if len(of) == 1]
        cells = {(train, OTHERS): [(train, test) for test in names if test not in made_of[train]] for train in single}
        cells |= {(OTHERS, name): [cell for cell in self.elsewhere if cell[1] == name] for name in names}
        cells |= {(OTHERS, OTHERS): self.elsewhere}
        cells |= {(train, ALL): [(train, test) for test in names] for train in made_of if train not in single}
        for (train, test), chosen in cells.items():
            tags = {"train": train, "test": test}
            yield Level([run for cell in chosen for run in self.runs[cell]], tags)
            own = list(dict.fromkeys((test, test) for _, test in chosen))
            yield from self._fall(own, chosen, tags | {"than_train": OWN, "than_test": test})

    def _fall(self, before: Sequence[Cell], after: Sequence[Cell], tags: Mapping[str, Any]) -> Iterator[Contrast]:
        """The fall between cells, and where there is an overlap and the tests are the same, that without it."""
        sides = [[(test, run) for train, test in cells for run in self.runs[train, test]] for cells in (before, after)]
        reference, compared = ([run for _, run in side] for side in sides)
        yield Contrast(reference, compared, tags)
        kept = {test: np.ones(len(self.corpus.tests[test]), bool) for _, test in (*before, *after)}
        for cell in (*before, *after):  # test rows that no training set of these cells has
            kept[cell[1]] &= ~self.overlaps[cell].near
        if {test for _, test in before} == {test for _, test in after} and not all(map(np.all, kept.values())):
            some_left = all(map(np.any, kept.values()))
            reference, compared = ([run.only(kept[test]) for test, run in side] if some_left else [] for side in sides)
            yield Contrast(reference, compared, tags, WITHOUT)


@dataclass(frozen=True)
class TransferPlan:
    """What a run will do."""

    texts: Mapping[str, Mapping[str, int]]
    """Rows per part, by dataset."""
    training_sets: Mapping[str, int]
    """Training rows by name."""
    trainings: int
    done: int


def transfer(
    datasets: Given,
    *,
    model: str = "minilm",
    params: Mapping[str, Any] | None = None,
    labels: Sequence[str] | None = None,
    positive: str | None = None,
    trainings: int = 3,
    seed: int = 42,
    test: float | None = None,
    groups: str | None = None,
    pooled: bool = False,
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
    loads. `labels` are the labels of all of them, in order; without, all must have the same. Each is trained on so many
    times (`trainings`), on one and the same split; `test` is the share for testing (0.2) where none is published.
    `groups` is the attribute that stays on one side where an entry names none. `pooled` adds a training on all
    together, `cap` trainings on at most so many texts per group (`cap_by`) and label, `matched` cuts every training set
    to the size of the smallest. Called again with the same folder, it goes on where it stopped.
    """
    given, share = settled_datasets(datasets, trainings, test, groups)
    if labels is not None and given.labels is not None:
        raise InputError("labels are declared twice", fix="in the file, or as labels=…, not both")
    given = replace(
        given, labels=given.labels if labels is None else as_names(labels),
        positive=given.positive if positive is None else positive,
    )  # fmt: skip
    _refuse_names(list(given.entries))
    recipe, extras = Model(model, dict(params or {})), Extras(pooled, cap, cap_by, matched)
    recipe.check()
    corpus = Corpus(members(given.entries, given.labels, also=[cap_by] if cap_by else [], test=share, seed=seed))
    label_names = corpus.data.label_names
    if given.positive is not None and given.positive not in label_names:
        raise UnknownNameError.of("label", given.positive, label_names)
    sets, findings = training_sets(corpus, extras, seed)
    refuse_same_files(list(sets))
    about = {
        "model": model,
        "settings": {
            "labels": label_names, "positive": given.positive, "test": share, "seed": seed, "trainings": trainings,
            **asdict(extras), "params": dict(params or {}),
        },
        "datasets": {name: member.described for name, member in corpus.members.items()},
        "training_sets": {
            name: {
                "of": chosen.of, "rows": len(chosen.train), "dev": len(chosen.dev), "uncapped": chosen.uncapped,
                "counts": corpus.data.take(chosen.train).label_counts,
            }
            for name, chosen in sets.items()
        },
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        tests = {name: Chosen(data) for name, data in corpus.tests.items()}
        learnt = {name: (Chosen(corpus.data, own.train), Chosen(corpus.data, own.dev)) for name, own in sets.items()}
        arms = {
            (name, number): Arm(f"{name}, seed {number}", *rows, tests, number)
            for name, rows in learnt.items()
            for number in range(seed, seed + trainings)
        }
        trained = list(arms.values())
        if announce is not None:
            texts = {name: member.parts.sizes for name, member in corpus.members.items()}
            sizes = {name: len(chosen.train) for name, chosen in sets.items()}
            announce(TransferPlan(texts, sizes, *trainings_done(trained, recipe, folder.results)))
        overlapping = overlaps(corpus, sets, seed)
        predictions = answers(trained, recipe, folder.results, workers=workers)
        by_set = {place: predictions[arm.name] for place, arm in arms.items()}
        files = {
            f"{file_name(name)}/{file_name(test)}.seed-{number}": answered
            for (name, number), asked in by_set.items()
            for test, answered in asked.items()
        }
        measures = TransferMatrix(corpus, sets, corpus.runs(by_set), overlapping, seed).measures
        rows = [row for overlap in overlapping.values() for row in overlap.measurements("overlap")]
        metrics = ["accuracy", "f1.macro", *(f"f1[{label}]" for label in label_names)]
        for metric in track(metrics, "measure", len(metrics)):
            rows += measured(measures, [metric], seed)
        overlap_findings = [overlapping[place].finding() for place in product(corpus.names, corpus.names)]
        steps = [arm.step(recipe) for arm in trained]
        splits = {name: member.parts for name, member in corpus.members.items()}
        more = {"timings": timings(steps, folder.results)}
        return Output(rows, [*overlap_findings, *findings], more, splits=splits, predictions=files)

    return carry_through("transfer", about, work, out=out, command=command, gates=gates)


def settled_datasets(datasets: Given, trainings: int, test: float | None, groups: str | None) -> tuple[Datasets, float]:
    """The datasets, whichever way they were said, and the share for testing where no split is published."""
    if not 1 <= trainings <= MOST_TRAININGS:
        raise InputError("trainings of each kind are too few or too many", expected="1 to 20", got=str(trainings))
    if isinstance(datasets, str | Path):
        datasets = read_datasets(datasets)
    if not isinstance(datasets, Datasets):
        pairs = datasets.items()
        datasets = Datasets(
            {name: source if isinstance(source, DatasetEntry) else DatasetEntry(source) for name, source in pairs}
        )
    entries = datasets.entries
    if test is not None and all(entry.split is not None for entry in entries.values()):
        raise InputError("test has no effect: every dataset has a published split", fix="leave it out")
    if groups is not None and all(entry.groups for entry in entries.values()):
        raise InputError("groups has no effect: every dataset names its own", fix="leave it out")
    entries = {name: replace(entry, groups=entry.groups or groups) for name, entry in entries.items()}
    return replace(datasets, entries=entries), TEST if test is None else test


def _refuse_names(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise InputError("one dataset has nowhere to go", expected="two or more", got=some(names) or "none")
    problems = [f"{name}: that name has a meaning of its own in the tables" for name in names if name in RESERVED]
    if problems:
        raise InputError("the datasets cannot be used as they are", problems=problems)


def refuse_same_files(names: Sequence[str]) -> None:
    """Refuse datasets of which the folder of a run could not hold both."""
    files: dict[str, str] = {}
    for name in names:
        other = files.setdefault(file_name(name).casefold(), name)
        if other != name:
            message = f"the files of {name!r} and {other!r} would have one name"
            raise InputError(message, fix="name the datasets otherwise")
