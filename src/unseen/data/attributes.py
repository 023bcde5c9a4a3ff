"""Attribute columns: what type each keeps.

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
import tokenize
import warnings
from functools import lru_cache
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.labels import is_blank
from unseen.data.values import (
    COLLECTIONS,
    LISTS,
    STRINGS,
    as_list,
    as_strings,
    is_list,
    is_sortable_number,
    plain,
    slices,
)
from unseen.errors import InputError

PRINTED = r"(?s)^\s*(\{.*\}|\[.*\]|\(.*\)|(frozen)?set\(.*\))\s*$"
NUMBERS = {pa.int64(): r"^-?(0|[1-9][0-9]*)$", pa.float64(): r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?$"}
TIMES = (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"))
NOT_A_LIST = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, tokenize.TokenError)


def attribute_column(column: pa.ChunkedArray, what: str, typed: bool = True) -> pa.ChunkedArray:
    """The column as an attribute; `typed` is False when the source can only hold text."""
    column = plain(column)
    if is_list(column.type):
        return _lists(column, what)
    if is_sortable_number(column.type):
        return column
    strings = as_strings(column, what)
    strings = pc.if_else(is_blank(strings), pa.scalar(None, STRINGS), strings)
    if strings.null_count == len(strings):
        return strings
    return _printed_lists(strings) or (None if typed else _recognised(strings)) or strings


def _lists(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type.value_type) or pa.types.is_binary(column.type.value_type):
        raise InputError(f"{what} holds {column.type}", expected="flat lists of strings or numbers in each row")
    return pa.chunked_array(
        [pa.array([as_list(row, what) for row in each.to_pylist()], type=LISTS) for each in slices(column)], type=LISTS
    )


def _printed_lists(strings: pa.ChunkedArray) -> pa.ChunkedArray | None:
    if not _all_match(strings, PRINTED):
        return None
    try:
        return pa.chunked_array([_parsed(each) for each in slices(strings)], type=LISTS)
    except NOT_A_LIST:
        return None


def _parsed(strings: pa.Array) -> pa.Array:
    distinct = strings.unique().drop_null()
    lists = pa.array([list(parse_list(each)) for each in distinct.to_pylist()], type=LISTS)
    return lists.take(pc.index_in(strings, value_set=distinct))


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
    for kind, pattern in NUMBERS.items():
        if _all_match(strings, pattern) and (numbers := _cast(strings, kind)) is not None:
            same = kind == pa.int64() or pc.count_distinct(strings).equals(pc.count_distinct(numbers))
            return numbers if same else None
    return next((times for kind in TIMES if (times := _cast(strings, kind)) is not None), None)


def _all_match(strings: pa.ChunkedArray, pattern: str) -> bool:
    return all(pc.all(pc.match_substring_regex(each, pattern)).as_py() is not False for each in strings.chunks)


def _cast(strings: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    try:
        return strings.cast(kind)
    except pa.ArrowInvalid:
        return None
