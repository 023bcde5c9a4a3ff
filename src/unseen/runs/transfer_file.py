"""Files of datasets for a transfer: where each comes from, what its labels are called here, how it is split."""

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
KEYS = ("source", "map", "groups", "split", *LOADING)
"""What a table of a dataset may say."""


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
        column = None if self.split is None or Path(self.split).is_file() else str(self.split)
        attributes = [*self.load.get("attributes", ()), *filter(None, [self.groups, column])]
        if Path(self.source).is_file():
            reading = {key: self.load[key] for key in ("delimiter", "encoding") if key in self.load}
            known = column_names(self.source, **reading) if also else ()
            attributes += [name for name in also if name in known]
        elif "attributes" not in self.load:  # a card names its attributes itself
            return replace(api.load(self.source, **self.load), name=name)
        loading = {**self.load, "attributes": list(dict.fromkeys(attributes))}
        return replace(api.load(self.source, **loading), name=name)


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
    problems = _unknown("the file", content, ("labels", "positive", "data"))
    labels = content.get("labels")
    if not isinstance(labels, list) or len(labels) < 2 or not all(isinstance(label, str) for label in labels):
        problems.append('labels is missing: the labels of all datasets, in order, e.g. labels = ["no", "yes"]')
        labels = []
    entries: dict[str, DatasetEntry] = {}
    tables = content.get("data")
    if not isinstance(tables, dict) or not tables:
        problems.append("[data.NAME] is missing: define each dataset in a table of its own")
        tables = {}
    for name, table in tables.items():
        with _noted(f"[data.{name}]", problems):
            entries[name] = _entry(name, table, path.parent, problems)
    if problems:
        raise InputError(f"{path} cannot be used as it is", problems=problems)
    return Datasets(entries, tuple(labels), content.get("positive"))


@contextmanager
def _noted(place: str, problems: list[str]) -> Iterator[None]:
    """What goes wrong inside becomes one more problem."""
    try:
        yield
    except UnseenError as cause:
        problems.append(f"{place} " + "; ".join([cause.message, *cause.problems]))


def _entry(name: str, table: Any, folder: Path, problems: list[str]) -> DatasetEntry:
    if not isinstance(table, dict):
        raise InputError("must be a table")
    problems += _unknown(f"[data.{name}]", table, KEYS)
    given = {"source": table.get("source", name), "split": table.get("split"), "groups": table.get("groups")}
    for key, value in given.items():
        if not isinstance(value, str | None):
            raise InputError(f"{key} must be text, not {value!r}")
    renamed = table.get("map", {})
    if not isinstance(renamed, dict) or not all(isinstance(label, str) for label in renamed.values()):
        raise InputError('map must name labels: map = { theirs = "ours", other = "drop" }')
    files = {key: folder / given[key] for key in ("source", "split") if given[key]}
    source, split, groups = (given | {key: str(path) for key, path in files.items() if path.is_file()}).values()
    if source != "sample" and source not in cards() and not Path(source).is_file():
        raise InputError(f"source: {source!r} is no file and no known dataset{hint(source, ['sample', *cards()])}")
    return DatasetEntry(source, {key: value for key, value in table.items() if key in LOADING}, renamed, groups, split)


def _unknown(place: str, table: Mapping[str, Any], known: Sequence[str]) -> list[str]:
    return [f"{place}: {key!r} is not known here{hint(key, known)}" for key in table if key not in known]
