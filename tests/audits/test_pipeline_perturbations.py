"""Changes to the test part: what they touch, and that the order of rows decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tiny_data import build
from unseen.audits.pipelines.bench import (
    labels_exchanged,
    labels_shuffled,
    nonsense,
    planted_among,
    texts_replaced,
)
from unseen.types import Dataset

TEST = np.arange(3, 15)


@pytest.fixture(scope="module")
def data() -> Dataset:
    labels = ["a", "b", "b", "c", "c", "c"] * 5
    texts = [f"{'word ' * (row % 4)}end{row}" for row in range(30)]
    return build([f"i{row}" for row in range(30)], texts, labels, ("a", "b", "c", "never"), user=list("xyz") * 10)


def columns(data: Dataset, name: str) -> dict[str, object]:
    return dict(zip(data.ids.to_pylist(), data.table[name].to_pylist(), strict=True))


def test_exchanged_labels_keep_their_numbers_and_all_change(data: Dataset) -> None:
    changed, touched = labels_exchanged(data, TEST, 1)
    assert touched.tolist() == TEST.tolist()  # no label is on more than half of these rows
    assert sorted(changed.labels[TEST]) == sorted(data.labels[TEST])
    assert np.array_equal(np.delete(changed.labels, TEST), np.delete(data.labels, TEST))
    assert changed.texts.equals(data.texts)


def test_a_large_label_is_exchanged_as_far_as_possible(data: Dataset) -> None:
    rows = np.array([0, 3, 4, 5, 9, 10])  # one 'a', five 'c'
    assert len(labels_exchanged(data, rows, 1)[1]) == 2


def test_replaced_texts_have_as_many_words_and_none_that_was_there(data: Dataset) -> None:
    changed = texts_replaced(data, TEST, 1)
    before, after = data.texts.to_pylist(), changed.texts.to_pylist()
    known = {word for text in before for word in text.split()}
    for row in range(30):
        assert len(after[row].split()) == len(before[row].split())
        assert (after[row] == before[row]) == (row not in TEST)
        assert row not in TEST or known.isdisjoint(after[row].split())
    assert np.array_equal(changed.labels, data.labels)


def test_planted_rows(data: Dataset) -> None:
    planted = planted_among(data, 20, 1)
    assert planted.rows.tolist() == list(range(30, 50))
    assert [data.label_names[code] for code in planted.codes] == ["c", "a"]
    assert planted.labels.sum() == 10
    assert planted.data.labels[30:].tolist() == np.where(planted.labels, 0, 2).tolist()
    assert len(set(planted.data.texts.to_pylist()[30:])) == 20
    assert set(planted.data.attribute("user").to_pylist()[30:]) <= set("xyz")
    assert planted.data.take(np.arange(30)).fingerprint == data.fingerprint


def test_the_order_of_rows_decides_nothing(data: Dataset) -> None:
    order = np.random.default_rng(0).permutation(30)
    mixed, rows = data.take(order), np.flatnonzero(np.isin(order, TEST))
    for change in (
        lambda some, these: labels_exchanged(some, these, 1)[0],
        lambda some, these: labels_shuffled(some, these, 1, 0),
        lambda some, these: texts_replaced(some, these, 1),
        lambda some, these: planted_among(some, 20, 1).data,
    ):
        one, other = change(data, TEST), change(mixed, rows)
        assert all(columns(one, name) == columns(other, name) for name in ("text", "label", "user"))


def test_shuffles_differ_by_number(data: Dataset) -> None:
    first, second = (labels_shuffled(data, TEST, 1, number).labels for number in (0, 1))
    assert not np.array_equal(first, second)
    assert sorted(first[TEST]) == sorted(second[TEST]) == sorted(data.labels[TEST])


def test_nonsense_has_no_word_twice() -> None:
    words = " ".join(nonsense([5] * 400 + [0], 1, "any")).split()
    assert len(set(words)) == len(words) == 2001
