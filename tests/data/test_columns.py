from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa
import pytest

from unseen.data.columns import NOT_A_LIST, attribute_column, parse_list
from unseen.errors import InputError

DAY = dt.date(2020, 5, 17)


def column(values: Any, typed: bool = False, kind: pa.DataType | None = None) -> pa.ChunkedArray:
    return attribute_column(pa.chunked_array([pa.array(values, type=kind)]), "the column", typed)


@pytest.mark.parametrize(
    ("printed", "elements"),
    [
        ("{'None', 'African'}", ("African", "None")),
        ("set()", ()),
        ("frozenset({'b', 'a'})", ("a", "b")),
        ("frozenset()", ()),
        ("['b', 'a']", ("b", "a")),
        ('["b", null, 1.0, true]', ("b", "1", "true")),
        ("('a',)", ("a",)),
        ("[]", ()),
        (" ['it''s', \"x\"] ", None),
        ("['a' 'b']", None),
        ("(1)", None),
        ("{'a': 1}", None),
        ('{"a": 1}', None),
        ("[['a']]", None),
        ("[abc]", None),
        ("[__import__('os').getcwd()]", None),
        ("[" * 5000 + "]" * 5000, None),
        ("{[1]}", None),
        ("[1, 2", None),
    ],
)
def test_printed_collections(printed: str, elements: tuple[str, ...] | None) -> None:
    if elements is None:
        with pytest.raises(NOT_A_LIST):
            parse_list(printed)
    else:
        assert parse_list(printed) == elements


def test_a_column_of_printed_collections_becomes_lists() -> None:
    lists = column(["{'b', 'a'}", "", "set()", "['c']"], typed=True)
    assert lists.type == pa.list_(pa.string())
    assert lists.to_pylist() == [["a", "b"], None, [], ["c"]]


@pytest.mark.parametrize("values", [["['a']", "b"], ["(sic)", "(sic)"], ["['a' 'b']"]])
def test_one_other_value_keeps_the_column_as_written(values: list[str]) -> None:
    assert column(values).to_pylist() == values


@pytest.mark.parametrize(
    ("written", "kind", "read"),
    [
        (["10", "", "-9"], pa.int64(), [10, None, -9]),
        (["1.5", "2"], pa.float64(), [1.5, 2.0]),
        (["007", "8"], pa.large_string(), ["007", "8"]),
        (["1.10", "1.1"], pa.large_string(), ["1.10", "1.1"]),
        (["+1", "2"], pa.large_string(), ["+1", "2"]),
        (["nan", "1"], pa.large_string(), ["nan", "1"]),
        (["99999999999999999999", "1"], pa.float64(), [1e20, 1.0]),
        (["2020-05-17", ""], pa.date32(), [DAY, None]),
        (["2020-05-17 10:00:00", "2020-05-17"], pa.timestamp("us"), [dt.datetime(2020, 5, 17, h) for h in (10, 0)]),
        (
            ["2020-05-17T10:00:00+02:00"],
            pa.timestamp("us", "UTC"),
            [dt.datetime(2020, 5, 17, 8, tzinfo=dt.UTC)],
        ),
        (["a", " "], pa.large_string(), ["a", None]),
        (["", ""], pa.large_string(), [None, None]),
    ],
)
def test_types_recognised_in_text(written: list[str], kind: pa.DataType, read: list[Any]) -> None:
    found = column(written)
    assert found.type == kind
    assert found.to_pylist() == read


def test_typed_sources_keep_their_strings() -> None:
    assert column(["10", "9"], typed=True).to_pylist() == ["10", "9"]


@pytest.mark.parametrize(
    ("values", "kind", "becomes"),
    [
        ([1, None], pa.int32(), pa.int32()),
        ([DAY], pa.date32(), pa.date32()),
        ([True, False], pa.bool_(), pa.large_string()),
        ([[1, 2], None], pa.large_list(pa.int64()), pa.list_(pa.string())),
        ([["a"]], pa.list_(pa.string(), 1), pa.list_(pa.string())),
        (["a", "b"], pa.dictionary(pa.int8(), pa.string()), pa.large_string()),
        ([None, None], pa.null(), pa.large_string()),
    ],
)
def test_types_of_typed_sources(values: list[Any], kind: pa.DataType, becomes: pa.DataType) -> None:
    assert column(values, typed=True, kind=kind).type == becomes


@pytest.mark.parametrize("values", [[{"a": 1}], [b"bytes"], [[["a"]]], [[b"x"]]])
def test_what_cannot_be_an_attribute(values: list[Any]) -> None:
    with pytest.raises(InputError, match="the column holds"):
        column(values, typed=True)
