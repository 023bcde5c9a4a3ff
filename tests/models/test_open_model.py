from __future__ import annotations

import json

import numpy as np
import pytest

from unseen.errors import InputError, UnknownNameError
from unseen.inference import predict
from unseen.models import as_classifier, kind_of, open_model
from unseen.training import RECIPES


def test_the_kind_is_told_by_the_place(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours" / "unseen.json").write_text("{}")
    (tmp_path / "theirs").mkdir()
    places = {
        "https://example.invalid/x": "endpoint",
        "http://localhost:80/x": "endpoint",
        str(tmp_path / "ours"): "folder",
        str(tmp_path / "theirs"): "hugging-face",
        "model.skops": "scikit-learn",
        "a/model.joblib": "scikit-learn",
        "package.module:function": "python",
        "org/name": "hugging-face",
        "some-name": "hugging-face",
    }
    assert {place: kind_of(place) for place in places} == places


@pytest.mark.parametrize("place", ["mymodel", "./absent", "/absent/folder", "~/absent", "a/b/c", "", " "])
def test_a_place_where_nothing_is(place):
    with pytest.raises(InputError, match="there is no model"):
        open_model(place)


def test_a_file_of_predictions_is_no_model():
    with pytest.raises(InputError, match="predictions"):
        open_model("out.csv")


@pytest.fixture(scope="module")
def words(tiny):
    texts = [f"{'warm tea' if i % 2 else 'cold rain'} number {i % 5}" for i in range(40)]
    return tiny([str(i) for i in range(40)], texts)


@pytest.mark.parametrize("recipe", ["logistic", "svm", "neural"])
def test_a_folder_of_ours_is_opened_whatever_it_holds(words, tmp_path, recipe):
    trained = RECIPES.make(recipe).fit(words, words.take([]), 1)
    trained.save(tmp_path / "model")
    opened = open_model(tmp_path / "model")
    assert type(opened) is type(trained)
    expected = predict(trained, words)
    assert np.array_equal(predict(opened, words).probabilities, expected.probabilities)
    assert (expected.probabilities.argmax(axis=1) == words.labels).all()
    renamed = open_model(tmp_path / "model", rename={"yes": "oui"})
    assert renamed.classes_ == ("no", "oui")
    assert hasattr(renamed, "encode") == (recipe == "neural")
    assert as_classifier(opened) is opened
    assert as_classifier(opened, {"yes": "oui"}).classes_ == as_classifier(tmp_path / "model", {"yes": "oui"}).classes_
    with pytest.raises(InputError, match="knows its labels"):
        open_model(tmp_path / "model", label_names=["a", "b"])
    with pytest.raises(InputError, match="'trust' is not a parameter"):
        open_model(tmp_path / "model", trust=True)


@pytest.mark.parametrize(
    ("said", "error"),
    [({}, InputError), ({"classifier": "os:getcwd"}, InputError), ({"classifier": "x"}, UnknownNameError)],
)
def test_a_folder_of_ours_names_a_classifier_of_ours(tmp_path, said, error):
    (tmp_path / "unseen.json").write_text(json.dumps(said))
    with pytest.raises(error, match="classifier"):
        open_model(tmp_path)
