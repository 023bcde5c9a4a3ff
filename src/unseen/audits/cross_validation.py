"""Folds of a dataset in which no text is judged by a model that has seen it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.seeding import generator
from unseen.types import Dataset


def dealt(data: Dataset, folds: int, seed: int, groups: str | None = None) -> npt.NDArray[np.intp]:
    """The fold of each row: distinct texts of one label (that of their first id) dealt out in random order.

    With `groups`, what is dealt out are the values of that attribute. The order of rows decides nothing.
    """
    by_id = data.by_id
    units = (data.texts if groups is None else data.attribute(groups)).take(pa.array(by_id)).combine_chunks()
    codes = units.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
    first = np.unique(codes, return_index=True)[1]  # codes are 0, 1, …: the place in `first` is the code
    labels = data.labels[by_id[first]]
    shuffled = generator(seed, "folds").permutation(len(first))
    of_text = np.empty(len(first), np.intp)
    of_text[shuffled[np.argsort(labels[shuffled], kind="stable")]] = np.arange(len(first)) % folds
    fold = np.empty(len(data), np.intp)
    fold[by_id] = of_text[codes]
    return fold
