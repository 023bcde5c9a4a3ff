"""Suites of benchmarks: the file that names datasets and models, and each dataset with its splits.

Every dataset has its published split, or folds that hold each row out once. Nothing that belongs together is on both
sides of a fold: rows of one group, and rows with nearly the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
from pydantic import ConfigDict, Field

from unseen import api
from unseen.data.groups import alone, group_codes
from unseen.data.post_texts import with_plain_posts
from unseen.errors import InputError, hint
from unseen.evaluation.gates import Gate
from unseen.registry import VERSION
from unseen.repairs.copies import ties
from unseen.repairs.groups import joined
from unseen.runs.experiment import DEV, refuse_without_parts
from unseen.runs.file_tables import LabelledTable, Metric, ModelTable, file_beside, read_gates, source_beside
from unseen.runs.source import by_id, limited
from unseen.runs.spaces import Model
from unseen.runs.training_steps import check_splitter
from unseen.runs.transfer_file import DatasetEntry, label_problems
from unseen.seeding import child_seed, generator
from unseen.splits.problem import given_certificate
from unseen.store.settings_file import Listed, Names, Problems, SettingsTable, Text, each_once, read_content
from unseen.types import DEV as DEV_PART
from unseen.types import TEST, TRAIN, Dataset, Finding, Origin, Split
from unseen.types.arrays import Codes, Rows

METRICS = ("f1.macro", "accuracy", "f1.weighted", "f1.dodrans", "f1.entropy", "recall.macro", "log_loss")
UNIT = "unseen.unit"
"""Attribute that holds what stays on one side."""
UNITS = ("text", "post", "user", "message", "review", "sentence", "claim", "document")


class FamilyTable(SettingsTable):
    """[family.NAME]: the labels that datasets of a family share, for tests of models that learnt from another one."""

    labels: Annotated[Listed[str], Field(min_length=2)] = ()


class BenchTexts(LabelledTable):
    """[data.NAME]: one dataset, what is known of it, and how it is split."""

    family: Text | None = None
    unit: Text = "text"
    groups: Text | None = None
    split: Text | None = None
    """A published split: a column with the parts, or a file; without one there are folds."""
    map: dict[str, str] = Field(default_factory=dict)
    """What its labels are in the words of the family; an empty text or `drop` leaves texts of a label out there."""
    published: Annotated[int, Field(gt=0)] | None = None
    """Rows that its publication names."""
    limit: Annotated[int, Field(ge=50)] | None = None


class BenchModel(ModelTable):
    """[model.NAME]: an encoder or another recipe."""

    trainings: Annotated[int, Field(ge=1, le=20)] | None = None
    """Trainings on each split; one is enough for a recipe that draws nothing."""


class HardTable(SettingsTable):
    """[hard]: the latent-hard view: one split of each dataset, the same for all models."""

    split: Text = "closest"
    model: Text | None = None
    """Whose space is cut; without a name, that of the reference."""
    space: str = ""
    """Which vectors of it, as in studies: `pretrained`, `full`, `bottleneck-50` …"""


class BenchFile(SettingsTable):
    """What a file of a benchmark says."""

    model_config = ConfigDict(json_schema_extra={"required": ["data", "model"]})

    title: str | None = None
    metric: Metric = "f1.macro"
    metrics: Listed[Metric] = METRICS
    """What models are compared by beside it."""
    seed: int = 42
    trainings: Annotated[int, Field(ge=1, le=20)] = 3
    folds: Annotated[int, Field(ge=2, le=20)] = 5
    posts: bool = False
    """Whether handles, links, repost marks and emoji are written alike in all texts."""
    reference: Text | None = None
    """The model that gains are over; the first one where none is named."""
    elsewhere: Annotated[int, Field(ge=0)] = 2_000
    """Test texts of another dataset of the family, at most; 0 for no such test."""
    hard: HardTable | None = HardTable()
    gates: Names = ()
    family: dict[str, FamilyTable] = Field(default_factory=dict)
    data: dict[str, BenchTexts] = Field(default_factory=dict)
    model: dict[str, BenchModel] = Field(default_factory=dict)


@dataclass(frozen=True)
class BenchSuite:
    """A benchmark, checked."""

    path: Path
    file: BenchFile
    data: Mapping[str, BenchTexts]
    models: Mapping[str, Model]
    trainings: Mapping[str, int]
    """Trainings of each model on each split."""
    reference: str
    gates: tuple[Gate, ...]

    @property
    def title(self) -> str:
        """What it is called."""
        return self.file.title or self.path.stem

    @property
    def metrics(self) -> tuple[str, ...]:
        """The main metric first."""
        return tuple(dict.fromkeys([self.file.metric, *self.file.metrics]))


def read_bench(
    path: str | Path, *, gates: Sequence[Gate | str] = (), trust: bool = False, models: Sequence[str] = ()
) -> BenchSuite:
    """The benchmark in a file, with further `gates`; all its mistakes in one error.

    `models` names some of its models; without, all.
    """
    path, problems = Path(path), Problems()
    file = problems.read(BenchFile, read_content(path)) or BenchFile()
    for stage in ("data", "model"):
        if not getattr(file, stage) and (stage,) not in problems.omitted:
            problems.add(f"[{stage}.NAME] is missing: define at least one")
    data = {}
    for name, table in file.data.items():
        with problems.noted(f"[data.{name}]"):
            source = source_beside(path.parent, table.source or name)
            split = None if table.split is None else file_beside(path.parent, table.split)
            data[name] = table.model_copy(update={"source": source, "split": split})
            if table.unit not in UNITS:
                raise InputError(f"unit: {table.unit!r} is not one of {', '.join(UNITS)}{hint(table.unit, UNITS)}")
            if table.family is None and table.map:
                raise InputError("map has no effect without a family")
    made = {}
    for name, model in file.model.items():
        with problems.noted(f"[model.{name}]"):
            made[name] = model.model(name, trust)
    chosen = {name: made[name] for name in models if name in made} if models else made
    for named in (*models, file.reference, None if file.hard is None else file.hard.model):
        if named is not None and named not in file.model:
            problems.add(f"the model {named!r} is not defined{hint(named, file.model)}")
    _check_families(file, problems)
    if file.hard is not None:
        with problems.noted("[hard]"):
            check_splitter(file.hard.split, "named")
            if VERSION.sub("", file.hard.split) == "random":
                raise InputError("split: 'random' is the ordinary view")
    bounds = read_gates([*file.gates, *gates], problems, lambda gate: {"data": list(data), "model": list(made)})
    problems.refuse(f"{path} cannot be run as it is")
    reference = file.reference if file.reference in chosen else next(iter(chosen))
    trainings = {name: file.model[name].trainings or file.trainings for name in chosen}
    return BenchSuite(path, file, data, chosen, trainings, reference, bounds)


def _check_families(file: BenchFile, problems: Problems) -> None:
    for name, table in file.family.items():
        with problems.noted(f"[family.{name}]"):
            each_once(table.labels)
            if not any(texts.family == name for texts in file.data.values()):
                raise InputError("no dataset is of this family")


@dataclass(frozen=True, eq=False)
class BenchMember:
    """One dataset of a benchmark, in the order of its ids."""

    name: str
    table: BenchTexts
    data: Dataset
    """With what stays on one side as the attribute `UNIT`."""
    loaded: int
    """Rows before any limit."""
    splits: tuple[Split, ...]
    """The published one, or folds."""
    family_labels: tuple[str, ...] | None
    """Labels of its family, where models are tested across it."""

    @cached_property
    def groups(self) -> Codes | None:
        """What is drawn together; None where every row stands alone."""
        return None if self.table.groups is None else alone(group_codes(self.data, self.table.groups))

    @cached_property
    def in_family(self) -> Codes:
        """For each of its labels, the place among those of the family; -1 where texts of it are left out."""
        assert self.family_labels is not None
        ours = [self.table.map.get(label, label) for label in self.data.label_names]
        return np.array([self.family_labels.index(name) if name in self.family_labels else -1 for name in ours])

    @property
    def described(self) -> dict[str, Any]:
        """Plain values about it."""
        table, source = self.table, Path(self.table.source)
        units = np.unique(self.data.attribute(UNIT).to_numpy())
        return {
            "source": source.name, "family": table.family, "unit": table.unit, "groups": table.groups,
            "split": "folds" if table.split is None else Path(table.split).name, "splits": len(self.splits),
            "published": table.published, "loaded": self.loaded, "rows": len(self.data), "together": len(units),
            "label_names": self.data.label_names, "counts": self.data.label_counts, "map": dict(table.map),
            "fingerprint": self.data.fingerprint,
        }  # fmt: skip

    def findings(self) -> list[Finding]:
        """What somebody who knows the publication would stumble over."""
        made = []
        published = self.table.published
        if published is not None and published != self.loaded:
            made.append(Finding(
                f"size[{self.name}]", "warn", f"{self.name} has {self.loaded:,} rows here, {published:,} as published.",
                advice="Say which rows are missing or added before you compare with published scores.",
            ))  # fmt: skip
        if self.table.split is not None:
            split, units = self.splits[0], self.data.attribute(UNIT).to_numpy()
            test = split.rows("test")
            shared = int(np.isin(units[test], units[split.rows("train", "dev")]).sum())
            level = "ok" if not shared else "fail" if shared >= 0.01 * len(test) else "warn"
            what = "texts, or their groups, are in its training part too"
            advice = "" if not shared else "Repair the split, or leave it out and let there be folds."
            message = f"{shared:,} of {len(test):,} test {what}."
            made.append(Finding(f"published split[{self.name}]", level, message, shared, advice=advice))
        return made


def load_members(bench: BenchSuite) -> dict[str, BenchMember]:
    """The datasets, loaded and split; whatever is wrong with any of them is told at once."""
    problems, members = Problems(), {}
    for name, table in bench.data.items():
        with problems.noted(f"{name}:"):
            members[name] = _member(name, table, bench)
    problems.refuse("the datasets cannot be used as they are")
    return members


def _member(name: str, table: BenchTexts, bench: BenchSuite) -> BenchMember:
    file, entry = bench.file, DatasetEntry(table.source, table.load, groups=table.groups, split=table.split)
    whole = entry.data(name)
    data = limited(by_id(whole), table.limit, child_seed(file.seed, "limit"))
    if file.posts:
        data = with_plain_posts(data)
    data = data.with_column(UNIT, pa.chunked_array([pa.array(_units(data, table.groups, file))]))
    family = file.family.get(table.family or "")
    labels = None if family is None or not file.elsewhere else family.labels
    if labels is not None and (problems := label_problems(data, table.map, labels)):
        raise InputError("its labels are not those of its family", problems=problems)
    return BenchMember(name, table, data, len(whole), _splits(name, data, table, file), labels)


def _units(data: Dataset, groups: str | None, file: BenchFile) -> Rows:
    """What stays on one side: rows of a group, and rows with nearly the same text.

    Chains of short texts that are like each other may tie most rows together; then only texts that are the same but
    for trifles are tied.
    """
    own = [] if groups is None else [alone(group_codes(data, groups))]
    for kind in ("near", "normalised"):
        units = joined([*own, ties(data, np.arange(len(data)), kind, file.seed).groups()])
        if np.bincount(units).max() <= len(data) / file.folds:
            break
    return units


def _splits(name: str, data: Dataset, table: BenchTexts, file: BenchFile) -> tuple[Split, ...]:
    if table.split is None:
        return folds_of(data, file.folds, child_seed(file.seed, "folds"))
    split = refuse_without_parts(data, api.split(data, "predefined", by=table.split, name="published"))
    if len(split.rows("dev")):
        return (split,)
    return (_with_dev(split, data, child_seed(file.seed, "dev")),)


def folds_of(data: Dataset, folds: int, seed: int) -> tuple[Split, ...]:
    """Splits that test every row once, with the class mix of all as far as whole units allow."""
    units = data.attribute(UNIT).to_numpy()
    sizes = np.unique(units, return_counts=True)[1]
    if len(sizes) < folds or sizes.max() > len(data) / 2:
        raise InputError(
            "too much belongs together for folds", got=f"{sizes.max():,} of {len(data):,} rows are one unit",
            fix="name finer groups, or a published split",
        )  # fmt: skip
    tested = dealt(data.labels, units, folds, seed)
    made = []
    for fold in range(folds):
        parts = np.where(tested == fold, TEST, TRAIN).astype(np.int8)
        certificate = given_certificate(tested == fold, np.array(data.label_names)[data.labels])
        clusters = np.full(len(data), -1, np.int32)
        origin = Origin("folds", {"folds": folds, "fold": fold + 1}, seed, {"dataset": data.fingerprint})
        split = Split(f"fold-{fold + 1}", data.ids, parts, clusters, certificate, data.fingerprint, origin)
        made.append(_with_dev(split, data, child_seed(seed, "dev", str(fold))))
    return tuple(made)


def _with_dev(split: Split, data: Dataset, seed: int) -> Split:
    """The split with about a tenth of its training part for dev, whole units."""
    train = split.rows("train")
    units = data.attribute(UNIT).to_numpy()[train]
    hand = dealt(data.labels[train], units, round(1 / DEV), seed)
    parts = split.parts.copy()
    parts[train[hand == 0]] = DEV_PART
    return replace(split, parts=parts)


def dealt(labels: Codes, units: Rows, hands: int, seed: int) -> Codes:
    """Which of so many hands each row is dealt to: whole units, the class mix alike in all hands.

    Units of several rows come first, the largest before others, each to the hand that has the least of what it brings;
    then single rows fill up what every hand lacks of their class. Chance decides among equals.
    """
    draw, k = generator(seed, "dealt"), int(labels.max(initial=0)) + 1
    _, unit, size = np.unique(units, return_inverse=True, return_counts=True)
    order = draw.permutation(len(size))
    order = order[np.argsort(-size[order], kind="stable")]
    rows_of_unit = np.split(np.argsort(unit, kind="stable"), np.cumsum(size)[:-1])
    share = np.bincount(labels, minlength=k) / hands
    have, hand = np.zeros((hands, k)), np.zeros(len(labels), np.intp)
    for number in order[: int((size > 1).sum())]:
        rows = rows_of_unit[number]
        brings = np.bincount(labels[rows], minlength=k)
        fullness = have @ (brings / np.maximum(share, 1)) + 1e-6 * have.sum(axis=1)
        chosen = int(fullness.argmin())
        have[chosen] += brings
        hand[rows] = chosen
    single = draw.permutation(np.flatnonzero(size[unit] == 1))
    for code in range(k):
        rows = single[labels[single] == code]
        lacking = np.maximum(share[code] - have[:, code], 0.0) + 1e-9
        ends = np.round(np.cumsum(lacking) / lacking.sum() * len(rows)).astype(np.intp)
        hand[rows] = np.searchsorted(ends, np.arange(len(rows)), side="right")
    return hand
