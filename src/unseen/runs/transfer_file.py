"""Datasets for a transfer: the file that names them, and each under the labels of all, with its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow.compute as pc
from pydantic import AfterValidator, ConfigDict, Field

from unseen import api
from unseen.data.rows import IfThere
from unseen.errors import InputError, hint
from unseen.evaluation.falls import Run
from unseen.evaluation.measurements import aligned, groups_of_rows
from unseen.runs.experiment import DEV, relabelled
from unseen.runs.file_tables import TextsTable, file_beside, source_beside
from unseen.runs.source import by_id, load_data
from unseen.splits.problem import given_certificate
from unseen.store.settings_file import Listed, Problems, SettingsTable, Text, each_once, read_content
from unseen.types import PARTS, Dataset, Predictions, Split, some
from unseen.types.arrays import Rows

TEST = 0.2
"""Share of the rows for testing, where no split is published."""
LEFT_OUT = ("", "drop")
USED = ("train", "dev", "test")


@dataclass(frozen=True)
class DatasetEntry:
    """One dataset that takes part."""

    source: Dataset | str
    """A dataset, or what `unseen.load` loads."""
    load: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `unseen.load`."""
    map: Mapping[str, str] = field(default_factory=dict)
    """{theirs: ours}; the empty string or `drop` leaves texts of that label out."""
    groups: str | None = None
    """Attribute whose values stay on one side, and are drawn together for intervals."""
    split: str | Path | None = None
    """A published split: an attribute with the parts, or a file; without one the split is random."""

    def data(self, name: str, also: Sequence[str] = ()) -> Dataset:
        """The texts under this name, with the attributes that are needed, and those of `also` where there are such."""
        if isinstance(self.source, Dataset):
            return replace(self.source, name=name)
        column = self.split if self.split is not None and not Path(self.split).is_file() else None
        named = [str(name) for name in (self.groups, column) if name]
        if Path(self.source).is_file():  # a card names its attributes itself
            named += map(IfThere, also)
        return replace(load_data(self.source, self.load, named), name=name)


@dataclass(frozen=True)
class Datasets:
    """What a file of datasets says."""

    entries: Mapping[str, DatasetEntry]
    labels: tuple[str, ...] | None = None
    """The labels of all, in order."""
    positive: str | None = None
    """The label that the verdict speaks of beside the mean over labels."""


class TransferTexts(TextsTable):
    """[data.NAME]: one dataset, and what its labels are called here."""

    map: dict[str, str] = Field(default_factory=dict)
    groups: Text | None = None
    split: Text | None = None


class TransferFile(SettingsTable):
    """What a file of datasets says."""

    model_config = ConfigDict(json_schema_extra={"required": ["labels", "data"]})

    labels: Annotated[Listed[str], Field(min_length=2), AfterValidator(each_once)] = ()
    positive: Text | None = None
    data: dict[str, TransferTexts] = Field(default_factory=dict)


def read_datasets(path: str | Path) -> Datasets:
    """The datasets that a file names; all its mistakes in one error.

    `labels = [...]`, `positive = "…"`, and a table [data.NAME] for each, with `source`, `map`, `groups`, `split` and
    what `unseen.load` takes. Files are looked for beside the file first.
    """
    path, problems = Path(path), Problems()
    file = problems.read(TransferFile, read_content(path)) or TransferFile()
    if not file.labels:
        problems.missing(("labels",), 'the labels of all datasets, in order, e.g. labels = ["no", "yes"]')
    if not file.data and ("data",) not in problems.omitted:
        problems.add("[data.NAME] is missing: define each dataset in a table of its own")
    entries = {}
    for name, table in file.data.items():
        with problems.noted(f"[data.{name}]"):
            source = source_beside(path.parent, table.source or name)
            split = None if table.split is None else file_beside(path.parent, table.split)
            entries[name] = DatasetEntry(source, table.load, table.map, table.groups, split)
    problems.refuse(f"{path} cannot be used as it is")
    return Datasets(entries, file.labels, file.positive)


@dataclass(frozen=True, eq=False)
class Member:
    """One dataset under the labels of all, in the order of its ids."""

    name: str
    data: Dataset
    parts: Split
    entry: DatasetEntry
    left_out: Mapping[str, int]
    """Texts of labels that are left out, by label."""

    def rows(self, part: str) -> Rows:
        """Rows of one part."""
        return self.parts.rows(part)

    @cached_property
    def groups(self) -> Rows | None:
        """What is drawn together in its test part; None where every text stands alone."""
        return groups_of_rows(self.data, self.rows("test"), self.entry.groups)

    def run(self, test: Dataset, predictions: Predictions, *, split: str, family: str, seed: int) -> Run:
        """What a model says about its test part, which is `test`."""
        answered = aligned(test, predictions, np.arange(len(test)))
        return Run(split, family, seed, test.labels, answered, test.label_names, self.groups, self.name)

    @property
    def described(self) -> dict[str, Any]:
        """Plain values about it."""
        source, split = self.entry.source, self.entry.split
        return {
            "source": source.name if isinstance(source, Dataset) else Path(source).name,
            "rows": len(self.data),
            "map": dict(self.entry.map),
            "left_out": dict(self.left_out),
            "groups": self.entry.groups,
            "split": None if split is None else Path(split).name,
            "counts": {part: self.data.take(self.rows(part)).label_counts for part in USED},
            "fingerprint": self.data.fingerprint,
        }


def members(
    entries: Mapping[str, DatasetEntry],
    labels: Sequence[str] | None,
    *,
    also: Sequence[str] = (),
    test: float = TEST,
    seed: int = 42,
) -> dict[str, Member]:
    """The datasets, loaded, relabelled and split; whatever is wrong with any of them is told at once."""
    problems, refused = Problems(), "the datasets cannot be used as they are"
    loaded: dict[str, Dataset] = {}
    for name, entry in entries.items():
        with problems.noted(f"{name}:"):
            loaded[name] = entry.data(name, also)
    problems.refuse(refused)
    ours = _shared_labels(loaded, entries) if labels is None else _declared(labels)
    for name, data in loaded.items():
        for problem in label_problems(data, entries[name].map, ours):
            problems.add(f"{name}: {problem}")
    problems.refuse(refused)
    made = {}
    for name, data in loaded.items():
        with problems.noted(f"{name}:"):
            made[name] = _member(name, data, entries[name], ours, test, seed)
    problems.refuse(refused)
    return made


def _shared_labels(loaded: Mapping[str, Dataset], entries: Mapping[str, DatasetEntry]) -> tuple[str, ...]:
    """The labels of the first dataset, which all others must have, when nobody declares any."""
    first = next(iter(loaded.values())).label_names
    differing = any(set(data.label_names) != set(first) for data in loaded.values())
    if differing or any(entry.map for entry in entries.values()):
        raise InputError(
            "the datasets have other labels than each other" if differing else "a map needs the labels it maps to",
            problems=[f"{name}: {some(data.label_names, 20)}" for name, data in loaded.items()],
            fix="declare the labels and say what each of theirs is, in a TOML file: --label-map FILE",
        )
    return first


def _declared(labels: Sequence[str]) -> tuple[str, ...]:
    if any(name.strip() in LEFT_OUT for name in labels) or len(set(labels)) < max(2, len(labels)):
        raise InputError(
            "the labels cannot be told apart", expected="two or more different names, none of them 'drop'",
            got=some(map(repr, labels)),
        )  # fmt: skip
    return tuple(labels)


def label_problems(data: Dataset, renamed: Mapping[str, str], labels: Sequence[str]) -> list[str]:
    """What a map of labels leaves unsaid or says wrongly."""
    problems = []
    for theirs, ours in renamed.items():
        if theirs not in data.label_names:
            problems.append(f"it has no label {theirs!r}{hint(theirs, data.label_names)}")
        if ours not in (*labels, *LEFT_OUT):
            problems.append(f"{theirs!r} is mapped to {ours!r}, which is no label here{hint(ours, labels)}")
    for theirs in data.label_names:
        if theirs not in renamed and theirs not in labels:
            count = data.label_counts[theirs]
            problems.append(f"nobody says what its label {theirs!r} ({count:,} texts) is here; or 'drop' it")
    return problems


def _member(name: str, data: Dataset, entry: DatasetEntry, labels: Sequence[str], test: float, seed: int) -> Member:
    ours = relabelled(by_id(data), entry.map, labels)
    if entry.groups is not None:
        ours.attribute(entry.groups)
    if entry.split is None:
        parts = api.split(ours, "random", test=test, dev=DEV, groups=entry.groups, seed=seed, name=name)
    else:
        parts = _published(data, ours, entry.split, name, seed)
    member = Member(name, ours, parts, entry, {
        label: data.label_counts[label] for label in data.label_names if entry.map.get(label) in LEFT_OUT
    })  # fmt: skip
    counts = member.described["counts"]
    if lacking := [label for label, n in counts["train"].items() if not n]:
        raise InputError(f"no text to train on has the label {some(lacking)}")
    if empty := [part for part in USED if not sum(counts[part].values())]:
        raise InputError(f"no texts are left for {some(empty)}")
    return member


def _published(data: Dataset, ours: Dataset, split: str | Path, name: str, seed: int) -> Split:
    """The published split of the rows that are left; a tenth of its training rows validate where nothing does."""
    parts = api.split(data, "predefined", by=split, name=name)
    if "dev" not in parts.sizes:
        parts = api.split(data, "predefined", by=split, dev=max(1, parts.sizes["train"] // 10), seed=seed, name=name)
    places = pc.index_in(ours.ids, value_set=data.ids).to_numpy(zero_copy_only=False).astype(np.intp)
    kept = parts.parts[places]
    test = given_certificate(kept == PARTS.index("test"), np.array(ours.label_names)[ours.labels])
    return replace(
        parts, ids=ours.ids, parts=kept, clusters=parts.clusters[places], certificate=test, dataset=ours.fingerprint
    )
