"""Which rows belong together: by their texts, by an attribute, by several of these at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from unseen.duplicates import near_pairs, same, same_forms
from unseen.repairs.draft import Rows
from unseen.types import Dataset


def alike(data: Dataset, rows: Rows, kind: str, seed: int = 42) -> Rows:
    """A number per row of `rows`, equal for texts that are alike.

    `exact`: the same text; `normalised`: the same normal form; `near`: near-duplicates, directly or by way of others.
    Texts of which normalising leaves nothing are alike only when they are the same.
    """
    texts = data.texts.take(pa.array(rows))
    equal = same(texts)
    if kind == "exact":
        return equal
    found = same_forms(texts) if kind == "normalised" else near_pairs(texts, seed=seed).groups()
    return joined([equal, found])


def values(data: Dataset, rows: Rows, attribute: str) -> tuple[Rows, int]:
    """A number per row of `rows`, equal for equal values, and how many rows have none; each of these is alone."""
    column = data.attribute(attribute).take(pa.array(rows))
    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    names = column.cast(pa.large_string()).fill_null("")
    missing |= pc.equal(names, "").to_numpy()
    return np.where(missing, np.arange(len(rows)), same(names)), int(missing.sum())


def joined(groupings: Sequence[Rows]) -> Rows:
    """The connected components of several groupings: rows that share a group in any of them, or with one that does."""
    n = len(groupings[0])
    links = [np.unique(codes, return_index=True, return_inverse=True)[1:] for codes in groupings]
    ends = np.concatenate([first[group.reshape(-1)] for first, group in links])
    starts = np.tile(np.arange(n), len(groupings))
    graph = sparse.coo_array((np.ones(len(ends), np.int8), (starts, ends)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)
