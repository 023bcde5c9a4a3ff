"""The data of a run, as its steps share it: the rows that are split, and those set aside before anything is learnt."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen import api
from unseen.analysis import Words
from unseen.data.catalogue import cards
from unseen.data.selection import DOUBTED
from unseen.data.tables import load_table
from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.splits.predefined import part_names
from unseen.splits.split_records import random_rows
from unseen.store import read_split
from unseen.store.foreign_splits import read_parts
from unseen.store.results import key_of
from unseen.types import Dataset, Split, some, string_array
from unseen.types.arrays import Mask, encode_labels


def named_settings(*functions: Callable[..., Any]) -> tuple[str, ...]:
    """What these functions take by name alone."""
    return tuple(
        name for function in functions for name, one in inspect.signature(function).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    )  # fmt: skip


LOADING = named_settings(load_table, api.load)
"""Parameters of `unseen.load`."""


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
        return {Path(file).stem: file for file in self.split_files}

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
        return hashes_of(self.data, attributes)

    @property
    def rest(self) -> Dataset:
        """The rows that are split."""
        return self.data.take(np.flatnonzero(~self.aside))

    @property
    def independent(self) -> Dataset:
        """The rows that were set aside."""
        return self.data.take(np.flatnonzero(self.aside))


def hashes_of(data: Dataset, attributes: Iterable[str]) -> dict[str, str]:
    """Hashes of the values of attributes."""
    return {name: key_of("attribute", data.attribute(name).to_pylist()) for name in attributes}


def load_source(
    source: Any, columns: Mapping[str, Any], settings: DataSettings, seed: int, name: str | None = None
) -> Source:
    """The data of a run: loaded, limited, with the independent rows set aside, and everything it names there.

    `source` and `columns` are what `unseen.load` takes; or `source` is a Dataset.
    """
    data = load_data(source, columns, settings.named)
    for attribute in settings.named:
        data.attribute(attribute)
    if settings.neutral is not None and settings.neutral not in data.label_names:
        raise UnknownNameError.of("label", settings.neutral, data.label_names)
    aside: float | str | Dataset = settings.independent
    if isinstance(aside, str) and not Path(aside).exists() and isinstance(source, str) and source in cards():
        aside = api.load(source, **dict(columns) | {"file": aside})
    # a file may name rows by their position, so it is read before rows are drawn and put in order
    by_row = {
        split: dict(zip(data.ids.to_pylist(), read_parts(path, data), strict=True))
        for split, path in settings.given_splits.items()
    }
    data, mask = set_aside(limited(data, settings.limit, seed), aside, settings.groups, seed)
    given = {split: part_names([parts.get(row, "") for row in data.ids.to_pylist()]) for split, parts in by_row.items()}
    return Source(name or data.name, data, mask, given)


def load_data(source: Any, columns: Mapping[str, Any], named: Sequence[str]) -> Dataset:
    """What `unseen.load` loads, with the attributes that are named; or a Dataset as it is."""
    if isinstance(source, Dataset):
        if columns:
            raise InputError(f"{', '.join(columns)} has no effect on a Dataset", fix="leave it out")
        return source
    # a known dataset and the sample have attributes by themselves; of a table only those that are named are read
    is_table = not isinstance(source, str) or Path(source).exists()
    if named and (is_table or "attributes" in columns):
        columns = {**columns, "attributes": list(dict.fromkeys([*(columns.get("attributes") or ()), *named]))}
    return api.load(source, **columns)


def split_of(data: Dataset, split: Split | str | Path | None, parts: str | None = None) -> Split | None:
    """A split as it is, in a file of ours or of anybody's, or as the attribute `parts` names each row's part."""
    if split is not None and parts is not None:
        raise InputError("parts has no effect with a split", fix="leave one of them out")
    if parts is not None:
        return api.split(data, "predefined", by=parts, name=parts)
    if not isinstance(split, str | Path):
        return split
    path = Path(split)
    if path.suffix == ".csv" and path.with_suffix(".json").exists():
        return read_split(path, data)
    return api.split(data, "predefined", by=path, name=path.stem)


def refuse_unknown(given: Iterable[str], run: Callable[..., Any], more: Iterable[str] = ()) -> None:
    """Refuse settings that are neither parameters of a run nor among `more`, which it takes besides."""
    named = [name for name, one in inspect.signature(run).parameters.items() if one.kind is not one.VAR_KEYWORD]
    for name in given:
        if name not in more:
            raise UnknownNameError.of("setting", name, dict.fromkeys([*named, *more]))


def by_id(data: Dataset) -> Dataset:
    """The rows in the order of their ids, so that the order of a file decides nothing."""
    return data.take(pc.sort_indices(data.ids).to_numpy())


def limited(data: Dataset, limit: int | None, seed: int) -> Dataset:
    """At most `limit` rows, drawn at random with the class mix of all."""
    if limit is None or limit >= len(data):
        return data
    classes = sum(count > 0 for count in data.label_counts.values())
    if limit < classes:
        raise InputError(f"{limit} rows cannot have rows of {classes} classes", fix=f"limit={10 * classes} or more")
    return data.take(api.split(data, "random", test=limit, seed=seed, name="limit").rows("test"))


def set_aside(
    data: Dataset, independent: float | str | Path | Dataset, groups: str | None, seed: int
) -> tuple[Dataset, Mask]:
    """The data of a run and which of its rows are independent: a share of them, none (0), or all of other data.

    The file is read like the data itself. An id that is in both files is told apart by a prefix.
    """
    if not isinstance(independent, str | Path | Dataset):
        data = by_id(data)
        if not independent:
            return data, np.zeros(len(data), bool)
        mask, note = random_rows(data, "independent", independent, groups=groups, seed=seed)
        if note:
            warnings.warn(note, UnseenWarning, stacklevel=2)
        return data, mask
    other = independent if isinstance(independent, Dataset) else _like(data, independent)
    if set(other.label_names) != set(data.label_names):
        raise MismatchError(
            f"the independent data {other.name} has other labels",
            expected=some(data.label_names),
            got=some(other.label_names),
        )
    both = joined(data, other, "independent")
    mask = np.arange(len(both)) >= len(data)
    order = pc.sort_indices(both.ids).to_numpy()
    return both.take(order), mask[order]


def _like(data: Dataset, path: str | Path) -> Dataset:
    """The table in `path`, read as the data was read."""
    params = data.origin.params
    if data.origin.step != "load" or "columns" not in params:
        raise InputError(
            "the independent part can be a file only when the data came from one", fix="set a share aside: 0.1"
        )
    columns = {name: column for name, column in params["columns"].items() if (name, column) != ("id", "id")}
    # labels that were doubted and left out are not declared here; a column `id` is used again where there is one
    drop = {"undeclared" if word in DOUBTED else word for word in params["drop"]}
    more = {name: params[name] for name in ("merge", "longest") if name in params}
    return api.load(str(path), **columns, labels=params["labels"], drop=drop, **more)


def joined(data: Dataset, other: Dataset, mark: str = "added") -> Dataset:
    """The rows of both, with the columns of the first; ids that are in both are told apart by a prefix.

    Attributes that the other lacks are empty there.
    """
    if not set(other.label_names) <= set(data.label_names):
        raise MismatchError(
            f"the data {other.name!r} has labels that {data.name!r} has not",
            expected=some(data.label_names),
            got=some(other.label_names),
            fix="map its labels: labels = { theirs = 'ours' }",
        )
    clashes = pc.is_in(other.ids, value_set=data.ids).to_pylist()
    ids = [f"{mark}/{name}" if clash else name for name, clash in zip(other.ids.to_pylist(), clashes, strict=True)]
    columns = {"id": string_array(data.ids.to_pylist() + ids)}
    for name in data.table.column_names[1:]:
        kind = pa.string() if name == "label" else data.table.schema.field(name).type
        theirs = other.table[name].cast(kind) if name in other.table.column_names else pa.nulls(len(other), kind)
        chunks = theirs.chunks if isinstance(theirs, pa.ChunkedArray) else [theirs]
        columns[name] = pa.chunked_array([*data.table[name].cast(kind).chunks, *chunks])
    columns["label"] = encode_labels(columns["label"], data.label_names)
    return data.longer(pa.table(columns))
