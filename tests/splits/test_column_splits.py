"""Splits by what is known about a row: its length, its time, an attribute, a part that somebody gave it."""

from __future__ import annotations

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest

from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.splits import AttributeSplit, LengthSplit, PredefinedSplit, TimeSplit


def held_out(splitter, X, y=None, groups=None):
    return [test.tolist() for _, test in splitter.split(X, y, groups)]


def test_the_longest_or_shortest_texts_of_each_class():
    texts = ["a", "a b c d", "a b", "a b c", " a  b \n c d e ", ""]
    labels = [0, 0, 0, 1, 1, 1]
    assert held_out(LengthSplit(2), texts, labels) == [[1, 4]]
    assert held_out(LengthSplit(2, hold_out="shortest"), texts, labels) == [[0, 5]]
    assert held_out(LengthSplit(2, stratify=False), texts) == [[1, 4]]


def test_white_space_is_no_word():
    assert held_out(LengthSplit(1), ["a    b", "a b c", "\ta\n\n"]) == [[1]]


def test_numbers_are_lengths():
    assert held_out(LengthSplit(2), [5, 1, 9, 3]) == [[0, 2]]
    assert held_out(LengthSplit(2), np.array([0.5, 0.1, 0.9, 0.3])) == [[0, 2]]


def test_groups_go_by_their_mean_length():
    assert held_out(LengthSplit(3), [9, 1, 5, 6, 6, 5.5, 1, 1], groups=list("aaabbcdd")) == [[3, 4, 5]]


def test_only_longest_and_shortest_exist():
    with pytest.raises(InputError, match="hold_out must be"):
        held_out(LengthSplit(1, hold_out="middle"), ["a", "b"])


@pytest.mark.parametrize(
    "times",
    [
        [3, 1, 2, 5, 4],
        [0.3, 0.1, 0.2, 0.5, 0.4],
        ["2024-03-01", "2024-01-01", "2024-02-01", "2024-05-01", "2024-04-01"],
        ["2024-03-01T12:00", "2023-01-01", "2024-02-01 23:59:59", "2024-05-01T00:00+02:00", "2024-04-30T21:59Z"],
        [date(2024, month, 1) for month in (3, 1, 2, 5, 4)],
        [datetime(2024, month, 1, tzinfo=UTC) for month in (3, 1, 2, 5, 4)],
        np.array(["2024-03", "2024-01", "2024-02", "2024-05", "2024-04"], dtype="datetime64[M]"),
        pd.Series(pd.to_datetime(["2024-03-01", "2024-01-01", "2024-02-01", "2024-05-01", "2024-04-01"])),
    ],
    ids=["int", "float", "date", "mixed", "dates", "datetimes", "numpy", "pandas"],
)  # fmt: skip
def test_the_latest_rows(times):
    assert held_out(TimeSplit(2), times) == [[3, 4]]


def test_times_are_compared_across_zones():
    assert held_out(TimeSplit(1), ["2024-05-01T00:00+02:00", "2024-04-30T23:00Z", "2024-04-30T23:30+01:00"]) == [[1]]


def test_the_class_mix_has_its_price_and_the_certificate_tells_it():
    splitter = TimeSplit(2)
    assert held_out(splitter, [1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1]) == [[2, 5]]
    assert splitter.certificates_[0].notes == ("1 test rows are older than the latest training row",)
    assert held_out(TimeSplit(2, stratify=False), [1, 2, 3, 4, 5, 6], [0, 0, 0, 1, 1, 1]) == [[4, 5]]


def test_groups_go_by_their_latest_row():
    assert held_out(TimeSplit(2), [9, 1, 5, 6, 7, 8], groups=list("aabbcc")) == [[0, 1]]


@pytest.mark.parametrize(
    "times",
    [["2024-01-01", "yesterday", "2024-13-01"], [1.0, float("nan"), float("inf")], ["2024-01-01", None, ""],
     np.array(["2024-01-01", "NaT", "NaT"], dtype="datetime64[D]")],
)  # fmt: skip
def test_rows_without_a_time_are_named(times):
    with pytest.raises(InputError, match=r"2 rows have no time(.|\n)*row 1: (.|\n)*rows 1, 2"):
        held_out(TimeSplit(1), times)


SOURCES = ["app", "mail", "app", "web", "mail"]


def test_values_are_held_out_together():
    assert held_out(AttributeSplit("mail"), SOURCES) == [[1, 4]]
    assert held_out(AttributeSplit(["mail", "web"]), SOURCES) == [[1, 3, 4]]
    assert held_out(AttributeSplit(iter(("web",))), SOURCES) == [[3]]


def test_without_values_each_is_held_out_once():
    splitter = AttributeSplit()
    assert held_out(splitter, SOURCES) == [[0, 2], [1, 4], [3]]
    assert splitter.get_n_splits(SOURCES) == 3
    assert [certificate.notes for certificate in splitter.certificates_] == [
        ("held out: app",), ("held out: mail",), ("held out: web",)
    ]  # fmt: skip


def test_a_row_with_several_values_goes_with_each():
    targets = [["women", "refugees"], ["women"], [], None, ("refugees",), {"islam"}]
    assert held_out(AttributeSplit("women"), targets) == [[0, 1]]
    assert held_out(AttributeSplit(), targets) == [[5], [0, 4], [0, 1]]


def test_numbers_are_values_too():
    assert held_out(AttributeSplit([2024]), [2023, 2024, 2024]) == [[1, 2]]
    assert held_out(AttributeSplit("2024"), np.array([2023, 2024, 2024])) == [[1, 2]]


def test_unknown_values_get_the_nearest_name():
    with pytest.raises(UnknownNameError, match="did you mean 'mail'"):
        held_out(AttributeSplit(["mial"]), SOURCES)


def test_values_that_leave_nothing_are_refused():
    with pytest.raises(InfeasibleError, match="leaves nothing on one side"):
        held_out(AttributeSplit(["app", "mail", "web"]), SOURCES)
    with pytest.raises(InputError, match="not known without X"):
        AttributeSplit().get_n_splits()


def test_parts_by_their_usual_names():
    splitter = PredefinedSplit()
    parts = ["train", "Test", "validation", "", " tst ", "training", None, "dev", "independent", float("nan")]
    ((train, test),) = splitter.split(parts)
    assert train.tolist() == [0, 2, 5, 7]
    assert test.tolist() == [1, 4]
    assert splitter.certificates_[0].notes == ("4 rows are on neither side",)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (["train", "tset", "fold 1"], "no known name"),
        (["train"] * 3, "without rows"),
        (["test", "test", ""], "without rows"),
    ],
)
def test_parts_that_are_none_are_refused(parts, message):
    with pytest.raises(InputError, match=message):
        held_out(PredefinedSplit(), parts)
