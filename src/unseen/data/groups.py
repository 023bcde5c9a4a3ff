"""Attributes that group rows: authors, conversations, sources."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from unseen.errors import InputError
from unseen.types import Dataset

NONE = -1
"""The group of a row that has none."""

MOST = 0.9
"""Share of the references that must look like some before an attribute is taken for links."""

Codes = npt.NDArray[np.intp]


def group_codes(data: Dataset, attribute: str, links: bool = False) -> Codes:
    """A number per row, equal for equal values, from 0 on in the order of their names; -1 where there is none.

    Nothing, an empty string and a number that is not one (NaN) are no value. With `links` a value may also be the id
    of another row, such as a contrast partner: rows that are linked, directly or by way of others, have one number.
    """
    codes = _value_codes(data, attribute)
    if not links:
        return codes
    targets, n = referred(data, attribute), len(data)
    linked, valued = np.flatnonzero(targets != NONE), np.flatnonzero(codes != NONE)
    _, first, place = np.unique(codes[valued], return_index=True, return_inverse=True)
    starts = np.concatenate([linked, valued])
    ends = np.concatenate([targets[linked], valued[first[place.reshape(-1)]]])
    graph = sparse.coo_array((np.ones(len(starts), np.int8), (starts, ends)), shape=(n, n))
    components = connected_components(graph, directed=False)[1].astype(np.intp)
    unnamed = codes == NONE
    unnamed[targets[linked]] = False
    return np.where(unnamed, NONE, components)


def referred(data: Dataset, attribute: str) -> Codes:
    """For each row the one whose id is its value, which may be itself; -1 where no row has such an id.

    Ids that are whole numbers may have been written as decimals: `7.0` is the row `7`.
    """
    names = data.attribute(attribute).cast(pa.large_string()).combine_chunks()
    ids = data.ids.cast(pa.large_string()).combine_chunks()
    whole = pc.replace_substring_regex(names, r"^([+-]?\d+)\.0+$", r"\1")
    rows = pc.coalesce(pc.index_in(names, value_set=ids), pc.index_in(whole, value_set=ids))
    return rows.fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.intp)


def holds_links(data: Dataset, attribute: str) -> bool:
    """Whether the values of an attribute are ids of other rows, such as contrast partners or originals.

    Small numbers may be ids by accident. So most values must be ids, and most rows that are referred to must refer
    back, to themselves or to nothing, unless ids are more than numbers. An attribute that names groups does not.
    """
    if pa.types.is_nested(data.attribute(attribute).type):
        return False
    codes, targets = _value_codes(data, attribute), referred(data, attribute)
    rows = np.flatnonzero((targets != NONE) & (targets != np.arange(len(data))))
    if not len(rows) or (targets != NONE).sum() < MOST * (codes != NONE).sum():
        return False
    ends = targets[rows]
    refers_back = (codes[ends] == NONE) | (targets[ends] == rows) | (targets[ends] == ends)
    numbers = pc.match_substring_regex(data.ids.take(pa.array(ends)), r"^\d{1,9}$")
    return bool(refers_back.mean() >= MOST) or not pc.any(numbers).as_py()


def _value_codes(data: Dataset, attribute: str) -> Codes:
    column = data.attribute(attribute)
    if pa.types.is_nested(column.type):
        raise InputError(
            f"the attribute {attribute!r} has several values per row, so it does not group rows",
            expected="an attribute with one value per row, such as an author",
            got=str(column.type),
        )
    names = column.cast(pa.large_string()).combine_chunks()
    missing = pc.or_(pc.is_null(column, nan_is_null=True).combine_chunks(), pc.equal(names, "").fill_null(True))
    encoded = pc.if_else(missing, pa.scalar(None, pa.large_string()), names).dictionary_encode()
    rank = np.argsort(pc.sort_indices(encoded.dictionary).to_numpy().astype(np.intp))
    codes = encoded.indices.fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.intp)
    return np.append(rank, NONE)[codes]


def alone(codes: Codes) -> Codes:
    """The same with a number of its own for each row that has no group."""
    return np.where(codes == NONE, codes.max(initial=NONE) + 1 + np.arange(len(codes)), codes)
