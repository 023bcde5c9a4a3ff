"""Which texts a run that asks a model looks at, and the slices that it judges apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.errors import InputError, UnknownNameError
from unseen.registry import VERSION, Registry
from unseen.seeding import generator
from unseen.types import Dataset, Split
from unseen.types.arrays import Mask, is_list


def some_texts(data: Dataset, limit: int | None, seed: int, split: Split | None = None) -> Dataset:
    """So many texts, the same whatever the order of rows; of a split so many of each part that is not trained on."""
    if limit is not None and limit < 1:
        raise InputError("limit must be at least 1", got=repr(limit))
    if split is not None:
        parts = [data.take(split.rows(name)) for name in split.sizes if name not in ("train", "dev")]
        ids = {key for part in parts for key in some_texts(part, limit, seed).ids.to_pylist()}
        return data.take(np.flatnonzero([key in ids for key in data.ids.to_pylist()]))
    if limit is None or len(data) <= limit:
        return data
    return data.take(np.sort(data.by_id[generator(seed, "explained").permutation(len(data))[:limit]]))


def slices_of(data: Dataset, columns: Sequence[str] = (), split: Split | None = None) -> dict[str, Mask]:
    """All texts, the values of columns, each of a list's too, and the parts of a split."""
    slices = {"all": np.ones(len(data), bool)}
    for column in columns:
        values = data.attribute(column)
        texts = (
            values.to_pylist()
            if is_list(values.type)
            else [[one] for one in values.cast(pa.large_string()).to_pylist()]
        )
        lists = [list(of_text or ()) for of_text in texts]
        for name in sorted({one for of_text in lists for one in of_text if one is not None}):
            slices[f"{column}={name}"] = np.array([name in of_text for of_text in lists])
    if split is not None:
        ids = data.ids.to_pylist()
        for name in split.sizes:
            within = set(split.ids.take(pa.array(split.rows(name))).to_pylist())
            slices[f"part={name}"] = np.array([key in within for key in ids])
    return slices


def registered(
    registry: Registry, names: Sequence[str], params: Mapping[str, Mapping[str, Any]], what: str
) -> dict[str, Any]:
    """What is registered under these names, made with the parameters that are given for each; refuses idle ones."""
    made = {VERSION.sub("", name): registry.make(name, **params.get(VERSION.sub("", name), {})) for name in names}
    idle = [name for name in params if name not in made]
    if idle:
        raise UnknownNameError.of(f"{what} that is used", idle[0], made)
    return made
