"""Columns of a source, whatever their type: as plain Arrow columns, as strings, and as attributes.

An attribute keeps a type:

- Lists, in formats that have them, become `list<string>`; so do printed Python sets, lists and tuples
  and JSON lists when every value of the column is one (sets sorted, because they have no order).
- Numbers, dates and times keep the type the source gave them, so that they can be sorted.
- CSV gives no types. There a column becomes `int64` or `float64` when every value is a number written
  without leading zeros or plus sign and no two spellings fall together; a date or a timestamp when
  every value is ISO 8601 (with an offset: in UTC); otherwise it stays as it is written.
- Everything else is `large_string`; truth values are "true" and "false". Empty strings are null.
"""

from __future__ import annotations

import ast
import io
import json
import math
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.types import ROWS_AT_ONCE
from unseen.types.arrays import is_list

COLLECTIONS = (list, tuple, set, frozenset)
NESTED = (*COLLECTIONS, dict)
STRINGS = pa.large_string()
LISTS = pa.list_(pa.string())
PRINTED_LIST = r"(?s)^\s*(\{.*\}|\[.*\]|\(.*\)|(frozen)?set\(.*\))\s*$"
NUMBERS = {pa.int64(): r"^-?(0|[1-9][0-9]*)$", pa.float64(): r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"}
TIMES = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))
NOT_A_LIST = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError)


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


def _is_sortable(kind: pa.DataType) -> bool:
    """Whether a type is a number, a date or a time."""
    types = pa.types
    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_temporal(kind)
    ) and not types.is_interval(kind)


def is_blank(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where a string is missing, empty or only white space."""
    return pc.fill_null(pc.or_(pc.equal(strings, ""), pc.utf8_is_space(strings)), True)


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
    kind = column.type
    if pa.types.is_large_string(kind):
        return column
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), None, column)
        whole_numbers = _cast(column, pa.int64())
        column = column if whole_numbers is None else whole_numbers
    if pa.types.is_null(kind) or pa.types.is_boolean(kind) or _is_sortable(kind):
        return column.cast(STRINGS)
    raise InputError(
        f"{what} holds {kind}",
        expected="one string, number, date or truth value in each row",
        fix="name another column, or convert this one before loading",
    )


def filled_strings(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """A column as strings, as `as_strings` gives them, but null where there is nothing but space."""
    strings = as_strings(column, what)
    return pc.if_else(is_blank(strings), pa.scalar(None, STRINGS), strings)


def as_list(value: Any, what: str) -> list[str] | None:
    """A collection as strings, without its missing elements; sets sorted, because they have no order."""
    if value is None:
        return None
    nested = next((element for element in value if isinstance(element, NESTED)), None)
    if nested is not None:
        raise _mixed(what, {type(nested)})
    texts = [text for element in value if (text := as_text(element)) is not None]
    return sorted(texts) if isinstance(value, set | frozenset) else texts


def from_python(values: Sequence[Any], what: str) -> pa.Array:
    """Python values as one Arrow array; values of several types become strings, sets sorted lists."""
    kinds = {type(value) for value in values} - {type(None)}
    try:
        if kinds and all(issubclass(kind, str) for kind in kinds):
            return pa.array(values, type=STRINGS)
        if kinds and all(issubclass(kind, COLLECTIONS) for kind in kinds):
            return pa.array([as_list(value, what) for value in values], type=LISTS)
        if any(issubclass(kind, NESTED) for kind in kinds):
            raise _mixed(what, kinds)
        if kinds <= {int, float} or len(kinds) == 1:
            try:
                return pa.array(values, from_pandas=True)
            except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
                pass
        return pa.array([as_text(value) for value in values], type=STRINGS)
    except UnicodeEncodeError as cause:
        raise InputError(f"{what} holds text that is not Unicode: {cause}", fix="remove lone surrogates") from cause


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
    strings = [part for chunk in chunks for part in as_strings(pa.chunked_array([chunk]), what).chunks]
    return pa.chunked_array(strings, type=STRINGS)


def _mixed(what: str, kinds: set[type]) -> InputError:
    return InputError(
        f"{what} holds values of the type {', '.join(sorted(kind.__name__ for kind in kinds))}",
        expected="one value in each row, or a flat list in each row",
        fix="convert the column before loading",
    )


def attribute_column(column: pa.ChunkedArray, what: str, typed: bool = True) -> pa.ChunkedArray:
    """The column as an attribute; `typed` is False when the source can only hold text."""
    column = plain(column)
    if is_list(column.type):
        if pa.types.is_nested(column.type.value_type) or pa.types.is_binary(column.type.value_type):
            raise InputError(f"{what} holds {column.type}", expected="flat lists of strings or numbers in each row")
        lists = [pa.array([as_list(row, what) for row in rows.to_pylist()], type=LISTS) for rows in slices(column)]
        return pa.chunked_array(lists, type=LISTS)
    if _is_sortable(column.type):
        return column
    strings = filled_strings(column, what)
    if strings.null_count == len(strings):
        return strings
    return _printed_lists(strings) or (None if typed else _recognised(strings)) or strings


def _printed_lists(strings: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The lists that every value prints; None when one does not."""
    if not _all_match(strings, PRINTED_LIST):
        return None
    chunks = []
    try:
        for part in slices(strings):
            distinct = part.unique().drop_null()
            lists = pa.array([list(parse_list(text)) for text in distinct.to_pylist()], type=LISTS)
            chunks.append(lists.take(pc.index_in(part, value_set=distinct)))
    except NOT_A_LIST:
        return None
    return pa.chunked_array(chunks, type=LISTS)


@lru_cache(maxsize=1 << 16)
def parse_list(text: str) -> tuple[str, ...]:
    """The elements of a printed Python or JSON collection; an error of `NOT_A_LIST` for anything else."""
    text = text.strip()
    if text.startswith("frozenset("):
        text = text.removeprefix("frozenset(").removesuffix(")") or "set()"
    try:
        value = json.loads(text)
    except ValueError:
        value = _literal(text)
    if not isinstance(value, COLLECTIONS):
        raise ValueError(f"{text!r} is not a collection")
    return tuple(as_list(value, "a printed list") or ())


def _literal(text: str) -> object:
    # NumPy prints ['a' 'b'], which Python reads as ['ab'].
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    if any(pair == (tokenize.STRING, tokenize.STRING) for pair in pairwise(kinds)):
        raise ValueError("strings without a comma between them")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.literal_eval(text)


def _recognised(strings: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The numbers, dates or times that every value is written as; None when one is not."""
    for kind, pattern in NUMBERS.items():
        if _all_match(strings, pattern) and (numbers := _cast(strings, kind)) is not None:
            same = kind == pa.int64() or pc.count_distinct(strings).equals(pc.count_distinct(numbers))
            return numbers if same else None
    return next((times for kind in TIMES if (times := _cast(strings, kind)) is not None), None)


def _all_match(strings: pa.ChunkedArray, pattern: str) -> bool:
    return all(pc.all(pc.match_substring_regex(chunk, pattern)).as_py() is not False for chunk in strings.chunks)


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return column.cast(kind)
    except pa.ArrowInvalid:
        return None
