"""The datasets of a transfer: where each comes from, what its labels are called here, how it is split."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unseen import api
from unseen.data.catalogue import cards
from unseen.data.tables import column_names
from unseen.errors import InputError, UnseenError, hint
from unseen.store.files import read_toml
from unseen.types import Dataset

LOADING = ("text", "label", "id", "attributes", "drop", "delimiter", "encoding", "file", "data_dir")
OWN = ("source", "map", "groups", "split")


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
        needed = [each for each in (self.groups, column) if each]
        loading = self._loading(self.source, [str(each) for each in needed], also)
        return replace(api.load(self.source, **loading), name=name)

    def _loading(self, source: str, needed: Sequence[str], also: Sequence[str]) -> dict[str, Any]:
        if not Path(source).is_file():  # a card names its attributes itself
            given = self.load.get("attributes")
            return dict(self.load) | ({} if given is None else {"attributes": list(dict.fromkeys([*given, *needed]))})
        reading = {key: self.load[key] for key in ("delimiter", "encoding") if key in self.load}
        there = set(column_names(source, **reading)) if also else set()
        wanted = [*self.load.get("attributes", ()), *needed, *(each for each in also if each in there)]
        return dict(self.load) | {"attributes": list(dict.fromkeys(wanted))}


@dataclass(frozen=True)
class Datasets:
    """What a file of datasets says."""

    entries: Mapping[str, DatasetEntry]
    labels: tuple[str, ...] | None = None
    """The labels of all, in order."""
    positive: str | None = None
    """The label that the verdict speaks of beside the mean over labels."""


def read_datasets(path: str | Path) -> Datasets:
    """The datasets that a TOML file names; all its mistakes in one error.

    `labels = [...]`, `positive = "…"`, and a table [data.NAME] for each, with `source`, `map`, `groups`, `split` and
    what `unseen.load` takes. Files are looked for beside the TOML file first.
    """
    path, content = Path(path), read_toml(path)
    problems = [*_unknown("the file", content, ("labels", "positive", "data"))]
    labels = _labels(content, problems)
    entries: dict[str, DatasetEntry] = {}
    tables = content.get("data")
    if not isinstance(tables, dict) or not tables:
        problems.append("[data.NAME] is missing: define each dataset in a table of its own")
        tables = {}
    for name, table in tables.items():
        with noted(f"[data.{name}]", problems):
            entries[name] = _entry(name, table, path.parent, problems)
    if problems:
        raise InputError(f"{path} cannot be used as it is", problems=problems)
    return Datasets(entries, labels, content.get("positive"))


@contextmanager
def noted(place: str, problems: list[str]) -> Iterator[None]:
    """What goes wrong inside becomes one more problem."""
    try:
        yield
    except UnseenError as cause:
        problems.append(f"{place} " + "; ".join([cause.message, *cause.problems]))


def _labels(content: Mapping[str, Any], problems: list[str]) -> tuple[str, ...]:
    labels = content.get("labels")
    if not isinstance(labels, list) or len(labels) < 2 or not all(isinstance(each, str) for each in labels):
        problems.append('labels is missing: the labels of all datasets, in order, e.g. labels = ["no", "yes"]')
        return ()
    return tuple(labels)


def _entry(name: str, table: Any, beside: Path, problems: list[str]) -> DatasetEntry:
    if not isinstance(table, dict):
        raise InputError("must be a table")
    problems += _unknown(f"[data.{name}]", table, (*OWN, *LOADING))
    source, split, renamed = table.get("source", name), table.get("split"), table.get("map", {})
    for key, value in (("source", source), ("split", split), ("groups", table.get("groups"))):
        if not isinstance(value, str | None):
            raise InputError(f"{key} must be text, not {value!r}")
    if not isinstance(renamed, dict) or not all(isinstance(each, str) for each in renamed.values()):
        raise InputError('map must name labels: map = { theirs = "ours", other = "drop" }')
    load = {key: value for key, value in table.items() if key in LOADING}
    found = _beside(beside, source)
    if found != "sample" and found not in cards() and not Path(found).is_file():
        raise InputError(f"source: {found!r} is no file and no known dataset{hint(found, ['sample', *cards()])}")
    return DatasetEntry(found, load, renamed, table.get("groups"), None if split is None else _beside(beside, split))


def _beside(folder: Path, name: str) -> str:
    return str(folder / name) if (folder / name).is_file() else name


def _unknown(place: str, table: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    return [f"{place}: {key!r} is not known here{hint(key, known)}" for key in table if key not in known]
