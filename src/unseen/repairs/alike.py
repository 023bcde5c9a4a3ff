"""Which rows belong together: by their texts, by an attribute, by several of these at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from unseen.audits.subject import Subject
from unseen.data.groups import NONE, alone, group_codes
from unseen.duplicates import Pairs
from unseen.repairs.draft import Rows
from unseen.types import Dataset


def ties(data: Dataset, rows: Rows, kind: str, seed: int = 42) -> Pairs:
    """Which of `rows` are alike, as places in `rows`.

    `exact`: the same text; `normalised`: the same normal form; `near`: near-duplicates. Texts of which normalising
    leaves nothing are alike only when they are the same.
    """
    table = data.table.select(["id", "text", "label"]).take(pa.array(rows))
    subject = Subject(Dataset(data.name, table, data.label_names), seed=seed)
    found = subject.alike(kind)
    assert found is not None
    return found


def alike(data: Dataset, rows: Rows, kind: str, seed: int = 42) -> Rows:
    """A number per row of `rows`, equal for texts that are alike, directly or by way of others (`ties`)."""
    return ties(data, rows, kind, seed).groups()


def values(data: Dataset, rows: Rows, attribute: str, links: bool = False) -> tuple[Rows, int]:
    """A number per row of `rows`, equal for equal values, and how many rows have none; each of these is alone.

    With `links` values may be ids: rows that are linked have one number.
    """
    codes = group_codes(data, attribute, links)[rows]
    return alone(codes), int((codes == NONE).sum())


def joined(groupings: Sequence[Rows]) -> Rows:
    """The connected components of several groupings: rows that share a group in any of them, or with one that does."""
    n = len(groupings[0])
    links = [np.unique(codes, return_index=True, return_inverse=True)[1:] for codes in groupings]
    ends = np.concatenate([first[group.reshape(-1)] for first, group in links])
    starts = np.tile(np.arange(n), len(groupings))
    graph = sparse.coo_array((np.ones(len(ends), np.int8), (starts, ends)), shape=(n, n))
    return connected_components(graph, directed=False)[1].astype(np.intp)
