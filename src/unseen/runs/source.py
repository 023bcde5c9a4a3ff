"""The data of a study, as its steps share it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unseen import api
from unseen.analysis import Words
from unseen.data.catalogue import cards
from unseen.engines.steps import key_of
from unseen.errors import InputError, UnknownNameError
from unseen.runs.aside import Mask, limited, set_aside
from unseen.splits.predefined import part_names
from unseen.store.foreign_splits import read_parts
from unseen.types import Dataset


@dataclass(frozen=True, kw_only=True)
class DataSettings:
    """What a run says of its data."""

    limit: int | None = None
    """At most so many rows, drawn at random with the class mix of all."""
    independent: float | str = 0.1
    """A share of all rows, 0 for none, or a file: of a known dataset by its name, else one like the source."""
    groups: str | None = None
    """Attribute whose values stay on one side of every split."""
    slices: tuple[str, ...] = ()
    """Attributes to score by."""
    agreement: str | None = None
    """Attribute that says how far annotators agreed."""
    neutral: str | None = None
    """The label that means nothing is there, for the properties that compare class words."""
    split_files: tuple[str, ...] = ()
    """Splits that somebody else made."""

    @property
    def given_splits(self) -> dict[str, str]:
        """Files of splits that somebody else made, by the name of the split."""
        return {Path(each).stem: each for each in self.split_files}

    @property
    def named(self) -> list[str]:
        """The attributes that are read."""
        return [*self.slices, *filter(None, (self.groups, self.agreement))]


@dataclass(frozen=True, eq=False)
class Source:
    """Labelled texts, and which of them are independent: set aside before anything is learnt."""

    name: str
    data: Dataset
    aside: Mask
    given: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Splits that somebody else made: the part of each row, empty where the file names none."""

    @cached_property
    def basis(self) -> dict[str, Any]:
        """What decides every step: texts, labels, and which rows are independent."""
        aside = key_of("aside", np.flatnonzero(self.aside).tolist())
        return {"data": self.data.fingerprint, "order": self.data.order, "aside": aside}

    @cached_property
    def words(self) -> Words:
        """The words of all texts, counted once."""
        return Words.of(self.data)

    def content(self, attributes: Iterable[str]) -> dict[str, str]:
        """Hashes of the values of attributes, which the fingerprint of a dataset leaves out."""
        return {name: self._hashes(name) for name in attributes}

    def _hashes(self, name: str) -> str:
        return key_of("attribute", self.data.attribute(name).to_pylist())

    @property
    def rest(self) -> Dataset:
        """The rows that are split."""
        return self.data.take(np.flatnonzero(~self.aside))

    @property
    def independent(self) -> Dataset:
        """The rows that were set aside."""
        return self.data.take(np.flatnonzero(self.aside))


def load_source(
    source: Any, columns: Mapping[str, Any], wanted: DataSettings, seed: int, name: str | None = None
) -> Source:
    """The data of a run: loaded, limited, with the independent rows set aside, and everything it names there.

    `source` and `columns` are what `unseen.load` takes; or `source` is a Dataset.
    """
    data = _load(source, dict(columns), wanted.named)
    for attribute in wanted.named:
        data.attribute(attribute)
    if wanted.neutral is not None and wanted.neutral not in data.label_names:
        raise UnknownNameError.of("label", wanted.neutral, data.label_names)
    aside: float | str | Dataset = wanted.independent
    if isinstance(aside, str) and not Path(aside).exists() and isinstance(source, str) and source in cards():
        aside = api.load(source, **dict(columns) | {"file": aside})
    # a file may name rows by their position, so it is read before rows are drawn and put in order
    by_id = {
        split: dict(zip(data.ids.to_pylist(), read_parts(path, data), strict=True))
        for split, path in wanted.given_splits.items()
    }
    data, mask = set_aside(limited(data, wanted.limit, seed), aside, wanted.groups, seed)
    given = {
        split: part_names([parts.get(each, "") for each in data.ids.to_pylist()]) for split, parts in by_id.items()
    }
    return Source(name or data.name, data, mask, given)


def _load(source: Any, columns: dict[str, Any], named: list[str]) -> Dataset:
    if isinstance(source, Dataset):
        if columns:
            raise InputError(f"{', '.join(columns)} has no effect on a Dataset", fix="leave it out")
        return source
    # a known dataset and the sample have attributes by themselves; of a table only those that are named are read
    is_table = not isinstance(source, str) or Path(source).exists()
    if named and (is_table or "attributes" in columns):
        columns["attributes"] = list(dict.fromkeys([*(columns.get("attributes") or ()), *named]))
    return api.load(source, **columns)
