"""The data of a run: the rows that are split, and those set aside before anything is learnt."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen import api
from unseen.data.selection import DOUBTED
from unseen.errors import InputError, MismatchError
from unseen.store.datasets import encode_labels
from unseen.types import Dataset, some, string_array

Mask = npt.NDArray[np.bool_]


def by_id(data: Dataset) -> Dataset:
    """The rows in the order of their ids, so that the order of a file decides nothing."""
    return data.take(pc.sort_indices(data.ids).to_numpy())


def limited(data: Dataset, limit: int | None, seed: int) -> Dataset:
    """At most `limit` rows, drawn at random with the class mix of all."""
    if limit is None or limit >= len(data):
        return data
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
        drawn = api.split(data, "random", test=independent, groups=groups, seed=seed, name="independent")
        mask = np.zeros(len(data), bool)
        mask[drawn.rows("test")] = True
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
    said = data.origin.params
    if data.origin.step != "load" or "columns" not in said:
        raise InputError(
            "the independent part can be a file only when the data came from one", fix="set a share aside: 0.1"
        )
    columns = {name: column for name, column in said["columns"].items() if (name, column) != ("id", "id")}
    # labels that were doubted and left out are not declared here; a column `id` is used again where there is one
    drop = {"undeclared" if word in DOUBTED else word for word in said["drop"]}
    more = {name: said[name] for name in ("merge", "longest") if name in said}
    return api.load(str(path), **columns, labels=said["labels"], drop=drop, **more)


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
