"""Values of a column, whatever their type, as plain Arrow columns and as strings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.types import ROWS_AT_ONCE

COLLECTIONS = (list, tuple, set, frozenset)
STRINGS = pa.large_string()
LISTS = pa.list_(pa.string())


def as_text(value: Any) -> str | None:
    """One value as a string: `1`, `1.0` and `"1"` are "1", True is "true", NaN and None are nothing."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def as_strings(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """A column as strings, by the rule of `as_text`; refuses lists, nested and binary values."""
    column = plain(column)
    if pa.types.is_large_string(column.type):
        return column
    if pa.types.is_floating(column.type):
        column = _whole(pc.if_else(pc.is_nan(column), None, column))
    if is_single(column.type):
        return column.cast(STRINGS)
    raise InputError(
        f"{what} holds {column.type}",
        expected="one string, number, date or truth value in each row",
        fix="name another column, or convert this one before loading",
    )


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column


def is_single(kind: pa.DataType) -> bool:
    """Whether a type holds one printable value per row."""
    types = pa.types
    return bool(
        types.is_null(kind) or types.is_large_string(kind) or types.is_boolean(kind) or is_sortable_number(kind)
    )


def is_sortable_number(kind: pa.DataType) -> bool:
    """Whether a type is a number, a date or a time."""
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind)
    ) and not types.is_interval(kind)


def is_list(kind: pa.DataType) -> bool:
    """Whether a type holds several values per row."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column with dictionaries resolved and every kind of string as `large_string`."""
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_string_view(column.type):
        column = column.cast(STRINGS)
    return column


def slices(column: pa.ChunkedArray) -> Iterator[pa.Array]:
    """The column, some thousand rows at a time."""
    for chunk in column.chunks:
        for start in range(0, len(chunk), ROWS_AT_ONCE):
            yield chunk.slice(start, ROWS_AT_ONCE)


def from_python(values: Sequence[Any], what: str) -> pa.Array:
    """Python values as one Arrow array; values of several types become strings, sets sorted lists."""
    kinds = {type(value) for value in values} - {type(None)}
    try:
        if kinds and all(issubclass(kind, str) for kind in kinds):
            return pa.array(values, type=STRINGS)
        if kinds and all(issubclass(kind, COLLECTIONS) for kind in kinds):
            return pa.array([as_list(value, what) for value in values], type=LISTS)
        if any(issubclass(kind, (*COLLECTIONS, dict)) for kind in kinds):
            raise _mixed(what, kinds)
        if kinds <= {int, float} or len(kinds) == 1:
            return _native(values)
        return pa.array([as_text(value) for value in values], type=STRINGS)
    except UnicodeEncodeError as cause:
        raise InputError(f"{what} holds text that is not Unicode: {cause}", fix="remove lone surrogates") from cause


def _native(values: Sequence[Any]) -> pa.Array:
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return pa.array([as_text(value) for value in values], type=STRINGS)


def as_list(value: Any, what: str) -> list[str] | None:
    """A collection as strings, without its missing elements; sets sorted, because they have no order."""
    if value is None:
        return None
    nested = next((each for each in value if isinstance(each, (*COLLECTIONS, dict))), None)
    if nested is not None:
        raise _mixed(what, {type(nested)})
    texts = [text for each in value if (text := as_text(each)) is not None]
    return sorted(texts) if isinstance(value, set | frozenset) else texts


def _mixed(what: str, kinds: set[type]) -> InputError:
    return InputError(
        f"{what} holds values of the type {', '.join(sorted(kind.__name__ for kind in kinds))}",
        expected="one value in each row, or a flat list in each row",
        fix="convert the column before loading",
    )


def unified(chunks: Sequence[pa.Array], what: str) -> pa.ChunkedArray:
    """Arrays as one column; where their types differ, numbers become floats and the rest strings."""
    kinds = {chunk.type for chunk in chunks if not pa.types.is_null(chunk.type)}
    if len(kinds) <= 1:
        kind = next(iter(kinds), STRINGS)
        return pa.chunked_array([chunk.cast(kind) for chunk in chunks], type=kind)
    if any(map(is_list, kinds)):
        raise _mixed(what, {list, str})
    if kinds <= {pa.int64(), pa.float64()}:
        return pa.chunked_array([chunk.cast(pa.float64()) for chunk in chunks])
    strings = [each for chunk in chunks for each in as_strings(pa.chunked_array([chunk]), what).chunks]
    return pa.chunked_array(strings, type=STRINGS)
