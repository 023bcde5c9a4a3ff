"""Attributes that group rows: authors, conversations, sources."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.types import Dataset

NONE = -1
"""The group of a row that has none."""

Codes = npt.NDArray[np.intp]


def group_codes(data: Dataset, attribute: str) -> Codes:
    """A number per row, equal for equal values, from 0 on in the order of their names; -1 where there is none.

    Nothing, an empty string and a number that is not one (NaN) are no value.
    """
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
    found = encoded.indices.fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.intp)
    return np.where(found == NONE, NONE, np.append(rank, NONE)[found])


def alone(codes: Codes) -> Codes:
    """The same with a number of its own for each row that has no group."""
    return np.where(codes == NONE, codes.max(initial=NONE) + 1 + np.arange(len(codes)), codes)
