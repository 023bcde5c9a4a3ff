"""Parts of splits as places, and everything measured in each."""

from __future__ import annotations

import numpy as np
import pytest
from scored import POSITIVE, scored

import unseen
from unseen.errors import InputError
from unseen.subgroups import bias_measurements, group_measurements, parts_of_splits, subgroup_measurements
from unseen.types import Predictions


@pytest.fixture(scope="module")
def some():
    return scored()


@pytest.fixture(scope="module")
def split(some):
    return unseen.split(some.data, "random", test=0.4, dev=0.2, seed=1, name="first")


def test_without_a_split_all_rows_are_one_place(some):
    (place,) = parts_of_splits(some.data)
    assert place.rows.tolist() == list(range(len(some.data)))
    assert place.tags == {}
    with pytest.raises(InputError, match="no effect without a split"):
        parts_of_splits(some.data, parts=["test"])


def test_parts_are_places_but_train_only_when_asked_for(some, split):
    assert [place.tags["part"] for place in parts_of_splits(some.data, [split])] == ["dev", "test"]
    (train,) = parts_of_splits(some.data, [split], ["train"])
    assert train.rows.tolist() == split.rows("train").tolist()


def test_parts_without_a_prediction_are_left_out(some, split):
    keep = split.rows("test")[:3]
    said = Predictions(some.data.ids.take(keep), np.full((3, 3), 1 / 3), some.data.label_names)
    assert [place.tags["part"] for place in parts_of_splits(some.data, [split], predictions=said)] == ["test"]
    with pytest.raises(InputError, match="no part"):
        parts_of_splits(some.data, [split], ["dev"], said)


def test_each_place_has_every_number(some, split):
    where = parts_of_splits(some.data, [split])
    common = {"draws": 5, "seed": 3}
    found = bias_measurements(
        some.data, some.predictions, some.groups, where, POSITIVE,
        backgrounds=["mentioned"], metrics=["positive_rate"], **common,
    )  # fmt: skip
    expected = []
    for rows, tags in where:
        given = (some.data, some.predictions, some.groups, rows)
        expected += subgroup_measurements(*given, POSITIVE, background="mentioned", tags=tags, **common)
        expected += group_measurements(*given, ["positive_rate"], positive=POSITIVE, tags=tags, **common)
    assert found == expected
    assert bias_measurements(
        some.data, some.predictions, some.groups, where, POSITIVE, backgrounds=[], metrics=["accuracy"], **common
    )
