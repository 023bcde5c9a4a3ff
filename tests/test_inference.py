from __future__ import annotations

import numpy as np
import pytest

from unseen.errors import InputError, MismatchError
from unseen.inference import predict
from unseen.progress import reporting


class Lengths:
    """The longer a text, the surer of `yes`; remembers how it was asked."""

    classes_ = ("no", "yes")

    def __init__(self, answer=None):
        self.answer = answer
        self.asked = []

    def predict_proba(self, texts):
        self.asked.append(len(texts))
        if self.answer is not None:
            return self.answer
        yes = np.array([len(each) / 100 for each in texts])
        return np.column_stack([1 - yes, yes])


def test_one_row_per_text_in_batches(tiny):
    data = tiny(ids=list("abcde"), texts=["x" * n for n in (10, 20, 30, 40, 50)])
    classifier = Lengths()
    found = predict(classifier, data, batch=2)
    assert classifier.asked == [2, 2, 1]
    assert found.ids.to_pylist() == list("abcde")
    np.testing.assert_allclose(found.probabilities[:, 1], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert found.origin.params == {"model": "Lengths", "hard": False}
    assert found.origin.inputs == {"dataset": data.fingerprint}


def test_labels_are_matched_by_name_in_any_order(tiny):
    data = tiny(label_names=("yes", "no"), texts=["x" * 10] * 4)
    found = predict(Lengths(), data)
    assert found.label_names == ("yes", "no")
    np.testing.assert_allclose(found.probabilities, [[0.1, 0.9]] * 4)


def test_rows_are_answered_in_the_order_asked(tiny):
    data = tiny(texts=["x" * n for n in (10, 20, 30, 40)])
    found = predict(Lengths(), data, [3, 0])
    assert found.ids.to_pylist() == ["4", "1"]
    np.testing.assert_allclose(found.probabilities[:, 1], [0.4, 0.1])


def test_no_rows_give_no_predictions(tiny):
    classifier = Lengths()
    assert predict(classifier, tiny(), []).probabilities.shape == (0, 2)
    assert classifier.asked == []


def test_progress_is_reported(tiny):
    seen = []
    with reporting(lambda now: seen.append((now.work, now.done, now.total))):
        predict(Lengths(), tiny(), batch=3, work="ask")
    assert seen == [("ask", 0, 2), ("ask", 1, 2), ("ask", 2, 2)]


def test_a_small_error_of_float32_is_rescaled(tiny):
    said = np.full((4, 2), 0.5002, dtype=np.float32)
    assert predict(Lengths(said), tiny()).probabilities.tolist() == [[0.5, 0.5]] * 4


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ([[0.5, 0.6]] * 4, "4 rows that are not probabilities"),
        ([[1.0, 0.0]] * 3 + [[1.5, -0.5]], "1 rows that are not probabilities"),
        ([[np.nan, 1.0]] + [[1.0, 0.0]] * 3, "1 rows that are not probabilities"),
        ([[np.inf, 0.0]] * 4, "not probabilities"),
        ([[1.0, 0.0]] * 3, "wrong shape"),
        ([[1.0]] * 4, "wrong shape"),
        ([1.0] * 4, "wrong shape"),
        ([["much", "little"]] * 4, "did not answer with numbers"),
        ([[1.0, 0.0], [1.0]] * 2, "did not answer with numbers"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(tiny, said, message):
    with pytest.raises(InputError, match=message):
        predict(Lengths(said), tiny())


def test_the_row_of_a_wrong_answer_is_its_row_in_all(tiny):
    class Late(Lengths):
        def predict_proba(self, texts):
            return [[0.0, 0.0] if each.endswith("4") else [1.0, 0.0] for each in texts]

    with pytest.raises(InputError, match=r"row 3: \[0.0, 0.0\]"):
        predict(Late(), tiny(), batch=2)


@pytest.mark.parametrize(
    ("names", "problems"),
    [
        (("no", "maybe"), ["does not know the label 'maybe'", "does not declare the label 'yes'"]),
        (("no", "yes", "maybe"), ["does not know the label 'maybe'"]),
        (("yes",), ["does not declare the label 'no'"]),
    ],
)
def test_labels_that_differ_are_named(tiny, names, problems):
    with pytest.raises(MismatchError) as caught:
        predict(Lengths(), tiny(label_names=names))
    assert len(caught.value.problems) == len(problems)
    for said, expected in zip(caught.value.problems, problems, strict=True):
        assert expected in said
    assert "rename" in caught.value.fix


def test_a_label_named_twice_is_refused(tiny):
    twice = Lengths()
    twice.classes_ = ("no", "yes", "no")
    with pytest.raises(MismatchError, match="twice"):
        predict(twice, tiny())


def test_classes_that_are_numbers_match_labels_of_digits(tiny):
    numbered = Lengths()
    numbered.classes_ = np.array([0, 1])
    assert predict(numbered, tiny(label_names=("1", "0"))).label_names == ("1", "0")


def test_a_classifier_of_open_labels_is_told_those_of_the_data(tiny):
    class Open:
        classes_ = None
        source = "mine:open"

        def for_labels(self, names):
            bound = Lengths()
            bound.classes_, bound.hard, bound.source = names, True, self.source
            return bound

    assert predict(Open(), tiny()).origin.params == {"model": "mine:open", "hard": True}


def test_a_classifier_may_have_a_name(tiny):
    named = Lengths()
    named.name = "lengths.v1"
    assert predict(named, tiny()).origin.params["model"] == "lengths.v1"


@pytest.mark.parametrize("thing", [object(), Lengths, "a name", len])
def test_what_is_no_classifier_is_refused(tiny, thing):
    with pytest.raises(InputError, match="not a classifier"):
        predict(thing, tiny())


def test_a_batch_of_nothing_is_refused(tiny):
    with pytest.raises(InputError, match="batch"):
        predict(Lengths(), tiny(), batch=0)
