"""The forms in which a pipeline may answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from tiny_data import build
from unseen.api import split as split_data
from unseen.audits.pipelines.pipeline import read_answer
from unseen.errors import InputError, UnknownNameError
from unseen.types import Dataset, Predictions

SCORES = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]])
TEST = np.array([1, 3])


@pytest.fixture(scope="module")
def data() -> Dataset:
    return build()


def read(answer: Any, data: Dataset, test: Any = TEST) -> tuple[list[int], list[list[float]]]:
    found = read_answer(answer, data, test, data)
    return found.rows.tolist(), found.scores.tolist()


def test_forms_that_mean_the_same(data: Dataset) -> None:
    told = (TEST.tolist(), SCORES[TEST].tolist())
    by_id = Predictions(data.ids.take(pa.array([3, 1])), SCORES[[3, 1]], data.label_names)
    assert read(SCORES, data) == ([0, 1, 2, 3], SCORES.tolist())
    assert read(SCORES[TEST], data) == told
    assert read(by_id, data) == told
    assert read((TEST[::-1], SCORES[TEST][::-1]), data) == told
    assert read([(TEST[:1], SCORES[[1]]), (TEST[1:], SCORES[[3]])], data) == told
    assert read((np.array([0, 2]), TEST, SCORES[TEST]), data, None) == told


def test_a_row_that_was_answered_twice_counts_by_its_mean(data: Dataset) -> None:
    assert read(([2, 0, 2], SCORES[[0, 1, 2]]), data, None) == ([0, 2], [[0.2, 0.8], [0.75, 0.25]])


def test_labels_by_name_or_place(data: Dataset) -> None:
    assert read(["no", "yes"], data)[1] == read(np.array([0, 1]), data)[1] == [[1, 0], [0, 1]]


def test_a_split_of_its_own(data: Dataset) -> None:
    own = split_data(data, "random", test=0.5, seed=1)
    found = read_answer((own, SCORES[: len(own.rows("test"))]), data, None, data)
    assert found.rows.tolist() == own.rows("test").tolist()
    assert found.train is not None
    assert found.train.tolist() == own.rows("train").tolist()


def test_scikit_learn_models_with_and_without_probabilities(data: Dataset) -> None:
    texts, names = data.texts.to_pylist(), np.array(data.label_names)[data.labels]
    patterned = {"token_pattern": r"\w+"}
    soft = make_pipeline(CountVectorizer(**patterned), MultinomialNB()).fit(texts, data.labels)
    hard = make_pipeline(CountVectorizer(**patterned), LinearSVC()).fit(texts, names)
    assert read_answer(soft, data, TEST, data).scores == pytest.approx(soft.predict_proba(texts))
    assert read_answer(hard, data, TEST, data).scores.argmax(axis=1).tolist() == data.labels.tolist()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (SCORES[:3], "wrong number of rows"),
        (SCORES[:, :1], "cannot be read"),
        (np.full((4, 2), np.nan), "not finite"),
        (([0, 9], SCORES[:2]), "rows that are not there"),
        (([0.5, 1.0], SCORES[:2]), "did not name its rows"),
        (([0, 1], SCORES), "other rows than it answered"),
        (np.array([0, 7]), "labels that are not there"),
        (None, "cannot be read"),
    ],
)
def test_answers_that_cannot_be_read(answer: Any, said: str, data: Dataset) -> None:
    with pytest.raises(InputError, match=said):
        read(answer, data)


def test_unknown_labels_and_ids(data: Dataset) -> None:
    with pytest.raises(UnknownNameError, match="'yse'; did you mean 'yes'"):
        read(["yse", "no"], data)
    strangers = Predictions(pa.chunked_array([["x", "y"]]), SCORES[:2], data.label_names)
    with pytest.raises(InputError, match="2 ids that are not in the data"):
        read(strangers, data)


def test_a_classifier_does_not_say_what_was_tested(data: Dataset) -> None:
    model = make_pipeline(CountVectorizer(), MultinomialNB()).fit(data.texts.to_pylist(), data.labels)
    with pytest.raises(InputError, match="must say which rows it tested"):
        read(model, replace(data), None)
