"""Identifiers of rows: made from the text where the source has none, unique in any case."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import STRINGS, slices
from unseen.types import ROWS_AT_ONCE

DIGITS = 16


def made_ids(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """First 16 hex digits of each text's SHA-256; then "-2", "-3"… in the second, third… row of a text."""
    keys = np.empty(len(texts), dtype=np.dtype(">u8"))
    start = 0
    for part in slices(texts):
        digests = [hashlib.sha256(text).digest()[:8] for text in part.cast(pa.large_binary()).to_pylist()]
        keys[start : start + len(part)] = np.frombuffer(b"".join(digests), dtype=">u8")
        start += len(part)
    occurrences = _occurrences(keys.astype(np.uint64))
    return pa.chunked_array(list(_names(keys, occurrences)), type=STRINGS)


def _occurrences(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """How often each key has occurred up to its row, itself included."""
    order = np.argsort(keys, kind="stable")
    places = np.arange(len(keys))
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[order[1:]] != keys[order[:-1]]
    occurrences = np.empty(len(keys), dtype=np.int64)
    occurrences[order] = places - np.maximum.accumulate(np.where(first, places, 0)) + 1
    return occurrences


def _names(keys: npt.NDArray[Any], occurrences: npt.NDArray[np.int64]) -> Iterator[pa.Array]:
    for start in range(0, len(keys), ROWS_AT_ONCE):
        part, repeats = keys[start : start + ROWS_AT_ONCE], occurrences[start : start + ROWS_AT_ONCE]
        offsets = np.arange(len(part) + 1, dtype=np.int64) * DIGITS
        digits = part.tobytes().hex().encode("ascii")
        names = pa.LargeStringArray.from_buffers(len(part), pa.py_buffer(offsets), pa.py_buffer(digits))
        again = repeats > 1
        if again.any():
            pairs = zip(names.filter(pa.array(again)).to_pylist(), repeats[again].tolist(), strict=True)
            suffixed = pa.array([f"{name}-{count}" for name, count in pairs], type=STRINGS)
            names = pc.replace_with_mask(names, pa.array(again), suffixed)
        yield names


def repeats(ids: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    """True for each row whose id is that of an earlier row; rows without an id are never meant."""
    repeated = np.zeros(len(ids), dtype=bool)
    if pc.count_distinct(ids).as_py() == len(ids) - ids.null_count:
        return repeated
    codes = ids.dictionary_encode().combine_chunks().indices
    rows = np.flatnonzero(codes.is_valid().to_numpy(zero_copy_only=False))
    _, first = np.unique(codes.drop_null().to_numpy(), return_index=True)
    repeated[rows] = True
    repeated[rows[first]] = False
    return repeated
