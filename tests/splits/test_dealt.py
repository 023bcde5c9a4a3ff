"""Folds: no text is judged by a model that has seen it."""

import numpy as np
import pytest

from unseen.splits.split_records import dealt

TEXTS = [f"text {i // 2 if i < 20 else i}" for i in range(100)]  # ten texts stand there twice


@pytest.fixture
def data(tiny):
    ids = [f"r{i:03}" for i in range(100)]
    return tiny(ids=ids, texts=TEXTS, labels=["yes" if i < 30 else "no" for i in range(100)])


def test_folds_have_the_class_mix(data):
    fold = dealt(data, 5, seed=1)
    assert np.bincount(fold).min() >= 17
    for each in range(5):
        assert np.mean(data.labels[fold == each]) == pytest.approx(0.3, abs=0.1)
    assert not np.array_equal(fold, dealt(data, 5, seed=2))


def test_the_order_of_rows_decides_nothing(data):
    order = np.random.default_rng(0).permutation(100)
    assert np.array_equal(dealt(data, 5, seed=1)[order], dealt(data.take(order), 5, seed=1))


def test_equal_texts_are_in_one_fold(data):
    fold = dealt(data, 5, seed=1)
    assert np.array_equal(fold[:20:2], fold[1:20:2])
