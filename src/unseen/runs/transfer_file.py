"""Files of datasets for a transfer: where each comes from, what its labels are called here, how it is split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from unseen import api
from unseen.data.tables import column_names
from unseen.runs.file_tables import TextsTable, file_beside, source_beside
from unseen.store.settings_file import Listed, Problems, SettingsTable, Text, each_once, read_content
from unseen.types import Dataset


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
        needed = [name for name in (self.groups, column) if name]
        loading = self._loading(self.source, [str(name) for name in needed], also)
        return replace(api.load(self.source, **loading), name=name)

    def _loading(self, source: str, needed: Sequence[str], also: Sequence[str]) -> dict[str, Any]:
        if not Path(source).is_file():  # a card names its attributes itself
            own = self.load.get("attributes")
            return dict(self.load) | ({} if own is None else {"attributes": list(dict.fromkeys([*own, *needed]))})
        reading = {key: self.load[key] for key in ("delimiter", "encoding") if key in self.load}
        there = set(column_names(source, **reading)) if also else set()
        attributes = [*self.load.get("attributes", ()), *needed, *(name for name in also if name in there)]
        return dict(self.load) | {"attributes": list(dict.fromkeys(attributes))}


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
