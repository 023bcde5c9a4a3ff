from __future__ import annotations

import math
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import entropy

import unseen
from unseen.analysis import attribute_kinds, shift, split_groups, under_represented
from unseen.analysis.attributes import Values, value_shares
from unseen.errors import InputError, UnknownNameError


def made(tiny, parts, **attributes):
    data = tiny(ids=[f"{row:04}" for row in range(len(parts))], part=parts, **attributes)
    return data, unseen.split(data, "predefined", by="part", name="mine")


def test_values_of_columns():
    values = Values.of(pa.chunked_array([["b", None], ["a", "b"]]))
    assert values.names == ("a", "b")
    assert list(zip(values.rows, values.codes, strict=True)) == [(0, 1), (2, 0), (3, 1)]
    lists = Values.of(pa.chunked_array([[["x", "y", "x"], []], [None, ["y", None]]]))
    assert lists.names == ("x", "y")
    assert list(zip(lists.rows, lists.codes, strict=True)) == [(0, 0), (0, 1), (3, 1)]
    assert lists.counts(np.array([0, 1]), 4).tolist() == [1, 1]
    assert Values.of(pa.chunked_array([[7, 10, 7]])).names == ("10", "7")
    assert Values.of(pa.chunked_array([pa.array([None, None], pa.string())])).names == ()


def test_under_represented_values(tiny):
    parts = ["train"] * 70 + ["dev"] * 10 + ["test"] * 20 + ["independent"] * 5
    source = (
        ["app"] * 68 + ["even"] * 2  # train
        + ["few"] * 1 + ["app"] * 9  # dev
        + ["few"] * 2 + ["even"] * 2 + ["rare"] * 2 + ["app"] * 14  # test
        + ["few"] * 5
    )  # fmt: skip
    data, split = made(tiny, parts, source=source)
    count, *shares = under_represented(data, split, "source")
    assert (count.metric, count.value, count.n) == ("under_represented.source", 1, 3)
    assert count.tags == {"split": "mine", "part": "test"}
    found = {row.slice: (row.value, row.n) for row in shares}
    assert found == {"source=app": (77 / 91, 91), "source=even": (0.5, 4), "source=few": (pytest.approx(1 / 3), 3)}
    assert {row.metric for row in shares} == {"train_share"}


def test_shares_of_the_test_rows(tiny):
    data, split = made(tiny, ["train"] * 3 + ["test"] * 3, topic=[["a"], ["a", "b"], [], ["b"], ["b", "b"], None])
    a, b = value_shares(data, split, "topic")
    assert [(row.metric, row.slice, row.value, row.n) for row in (a, b)] == [
        ("value_share", "topic=a", 0.0, 3),
        ("value_share", "topic=b", pytest.approx(2 / 3), 3),
    ]


def test_several_values_in_a_row(tiny):
    data, split = made(tiny, ["train"] * 3 + ["test"] * 3, topic=[["a"], ["a", "b"], [], ["b"], ["b", "b"], None])
    count, a, b = under_represented(data, split, "topic")
    assert (count.value, count.n) == (1, 2)
    assert (a.slice, a.value, a.n) == ("topic=a", 1, 2)
    assert (b.slice, b.value, b.n) == ("topic=b", pytest.approx(1 / 3), 3)


def test_shift_is_the_divergence_of_scipy(tiny):
    topic = [["a"], ["a", "b"], ["b"], [], ["a"], [], ["b"], ["b", "c"], ["c"], None]
    data, split = made(tiny, ["train"] * 6 + ["test"] * 4, topic=topic)
    train, test = {"a": 3, "b": 2, "c": 0}, {"a": 0, "b": 2, "c": 2}
    total = 0.0
    for value in "abc":
        p, q = (test[value] + 0.5) / 5, (train[value] + 0.5) / 7
        total += (train[value] + test[value]) / 9 * entropy([p, 1 - p], [q, 1 - q])
    (row,) = shift(data, split, "topic")
    assert row.value == pytest.approx(1 - math.exp(-total))
    assert (row.metric, row.n, row.tags) == ("shift.topic", 9, {"split": "mine", "part": "test"})


def test_shift_of_like_and_unlike_sides(tiny):
    parts = ["train"] * 500 + ["test"] * 500
    data, split = made(tiny, parts, same=["a", "b"] * 500, other=["a"] * 500 + ["b"] * 500)
    assert shift(data, split, "same")[0].value == pytest.approx(0, abs=1e-9)
    assert shift(data, split, "other")[0].value > 0.99


def test_groups_on_both_sides(tiny):
    user = ["u1", "u1", "u2", "u3", "u4", None, "u1", "u2", "u5", "u5", None, "u3"]
    parts = ["train"] * 4 + ["dev"] * 2 + ["test"] * 5 + ["independent"]
    data, split = made(tiny, parts, user=user)
    (row,) = split_groups(data, split, "user")
    # u1 and u2 are divided, u5 is not; u3 and u4 have one row, the third row of u3 is set aside
    assert (row.metric, row.value, row.n) == ("split_groups.user", pytest.approx(2 / 3), 3)
    with pytest.raises(InputError, match="a row has several values"):
        split_groups(*made(tiny, ["train", "test"], topic=[["a"], ["a", "b"]]), "topic")


def test_no_data_gives_no_score(tiny):
    parts = ["train"] * 30 + ["test"] * 10
    data, split = made(tiny, parts, user=[f"u{row}" for row in range(40)], none=pa.array([None] * 40, pa.string()))
    assert (split_groups(data, split, "user")[0].value, split_groups(data, split, "user")[0].n) == (None, 0)
    assert [(row.value, row.n) for row in under_represented(data, split, "user")] == [(None, 0)]
    assert [(row.value, row.n) for row in shift(data, split, "none")] == [(None, 0)]


def test_kinds_of_attributes(tiny):
    n = 1_000
    data = tiny(
        ids=[f"{row:04}" for row in range(n)],
        source=["app", "web"] * 500,
        most=[row % 50 for row in range(n)],
        more=[row % 51 for row in range(n)],
        few_rows=[f"{row % 12}" if row < 100 else None for row in range(n)],
        topic=[["a"], ["b", "c"]] * 500,
        unique=[f"x{row}" for row in range(n)],
        same=["x"] * n,
        empty=pa.array([None] * n, pa.string()),
        when=[date(2024, 1, 1 + row % 28) for row in range(n)],
        weight=[row / 7 % 3 for row in range(n)],
    )
    assert attribute_kinds(data) == (["source", "most", "topic"], ["more", "few_rows"])
    assert attribute_kinds(data, ["more"]) == (["more"], ["few_rows"])
    assert attribute_kinds(data, groups=["source", "unique"]) == (["most", "topic"], ["source", "unique"])
    assert attribute_kinds(data, [], []) == ([], [])
    with pytest.raises(UnknownNameError, match="did you mean 'source'"):
        attribute_kinds(data, ["sorce"])
