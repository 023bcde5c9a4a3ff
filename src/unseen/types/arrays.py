"""What the records share: read-only arrays, columns of strings, a few values for a message."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError, UnseenWarning, VectorsError

Rows = npt.NDArray[np.intp]
"""Positions of rows, or a number per row."""
Codes = npt.NDArray[np.integer]
"""A whole number per row: of its label, its group, its template."""
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Vectors = npt.NDArray[np.float32]
"""A vector per row, in single precision [rows, d], or a number per row."""
Keys = npt.NDArray[np.uint64]
"""A hash per row, or per band and row."""
ROWS_AT_ONCE = 65_536
"""Rows handled together wherever a whole column would be too large to copy."""
NUMBERS_AT_ONCE = 4_000_000
"""Numbers drawn together."""
LONGEST_TEXT = 100_000
"""Characters of a text that models read: features take up to a kilobyte for each."""


def is_list(kind: pa.DataType) -> bool:
    """Whether a type holds several values per row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def refuse_repeats(ids: pa.ChunkedArray) -> None:
    """Refuse ids of which two are equal."""
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if repeated:
        raise InputError(f"{repeated} rows have the id of another row", expected="unique ids")


def places_among(ids: pa.ChunkedArray, others: pa.ChunkedArray, problem: str, **advice: str) -> Rows:
    """Where each of these ids stands among the others; refuses ids that do not: `2 of 9 rows have no flags`."""
    places = pc.index_in(ids, value_set=others.cast(ids.type))
    if places.null_count:
        lacking = ids.filter(pc.is_null(places)).to_pylist()
        raise MismatchError(f"{len(lacking)} of {len(ids)} {problem}", got=f"ids {some(lacking)}", **advice)
    return places.to_numpy(zero_copy_only=False).astype(np.intp)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def frozen(values: npt.ArrayLike, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """`values` as a read-only array of `dtype`; the caller's array stays writable."""
    array = np.asarray(values, dtype=dtype).view()
    array.flags.writeable = False
    return array


def finite_float32(vectors: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """`vectors` as read-only float32; refuses NaN, infinity and numbers beyond float32, naming the rows."""
    if not (np.issubdtype(vectors.dtype, np.number) or vectors.dtype == bool) or np.iscomplexobj(vectors):
        raise VectorsError("vectors must be numbers", got=f"dtype {vectors.dtype}")
    with np.errstate(over="ignore"):
        array = frozen(vectors, np.float32)
    wrong: list[int] = []
    for start in range(0, len(array), ROWS_AT_ONCE):
        block = array[start : start + ROWS_AT_ONCE]
        wrong += (np.flatnonzero(~np.isfinite(block).all(axis=1)) + start).tolist()
    if wrong:
        raise VectorsError(
            f"{len(wrong)} of {len(array)} vectors are not finite",
            expected="no NaN, no infinity",
            got=f"rows {some(wrong)}",
            fix="look at the texts of these rows, or drop them before encoding",
        )
    return array


def bounded(texts: Sequence[str], ids: Sequence[str] | None = None) -> list[str]:
    """The texts as models read them, cut at LONGEST_TEXT characters; with their `ids`, it is said which were."""
    cut = [row for row, text in enumerate(texts) if len(text) > LONGEST_TEXT] if texts else []
    if cut and ids is not None:
        named = some([ids[row] for row in cut])
        warnings.warn(
            f"models read the first {LONGEST_TEXT:,} characters of a text; longer: {named}", UnseenWarning, stacklevel=2
        )
    return [text[:LONGEST_TEXT] for text in texts] if cut else list(texts)


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """The names that are meant: a text is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(names)


def some(values: Iterable[Any], most: int = 5) -> str:
    """The first few values, for a message."""
    values = list(values)
    return ", ".join(str(value) for value in values[:most]) + (", …" if len(values) > most else "")


def string_array(values: Sequence[str] | pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """`values` as a column of strings that may exceed two gigabytes."""
    if isinstance(values, pa.ChunkedArray):
        return values.cast(pa.large_string())
    return pa.chunked_array([pa.array(values, type=pa.large_string())])


def encode_labels(labels: pa.ChunkedArray, names: tuple[str, ...]) -> pa.ChunkedArray:
    """A column of label names as a dictionary column in the order of `names`."""
    dictionary = pa.array(names, type=pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(pc.index_in(chunk, value_set=dictionary).cast(pa.int32()), dictionary)
        for chunk in labels.cast(pa.string()).chunks
    ]
    return pa.chunked_array(chunks, type=pa.dictionary(pa.int32(), pa.string()))


def blocks(draws: int, width: int) -> list[int]:
    """How many draws of `width` numbers to make at a time, so that memory does not grow with the draws."""
    size = max(1, NUMBERS_AT_ONCE // max(1, width))
    return [min(size, draws - start) for start in range(0, draws, size)]
