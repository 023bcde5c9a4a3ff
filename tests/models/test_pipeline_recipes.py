"""A scikit-learn pipeline from a file, fitted anew on other texts."""

from __future__ import annotations

from pathlib import Path

import joblib
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

from unseen.data.sample import sample_corpus
from unseen.errors import InputError
from unseen.inference import predict
from unseen.naming import recipe_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A pipeline fitted on nonsense."""
    pipeline = make_pipeline(TfidfVectorizer(), SGDClassifier(loss="log_loss", random_state=7))
    path = tmp_path / "model.joblib"
    joblib.dump(pipeline.fit(["red one", "green two", "blue three"], ["x", "y", "z"]), path)
    return path


def test_what_it_was_fitted_on_is_forgotten(file: Path) -> None:
    data = sample_corpus(300)
    recipe = recipe_of(str(file), trust=True)
    model = recipe.fit(data.take(range(200)), data.take([]), 1)
    said = predict(model, data.take(range(200, 300)))
    assert said.label_names == data.label_names
    assert (said.probabilities.argmax(1) == data.labels[200:]).mean() > 0.6
    assert model.model[-1].random_state == 1
    assert recipe_of(str(file), trust=True)._pipeline[-1].random_state == 7
    assert len(recipe.sha256) == 64


def test_it_needs_trust_and_takes_nothing_else(file: Path) -> None:
    with pytest.raises(InputError, match="runs any code"):
        recipe_of(str(file))
    with pytest.raises(InputError, match="does not take"):
        recipe_of(str(file), trust=True, epochs=3)


def test_a_pipeline_that_fails_is_named(tmp_path: Path) -> None:
    pipeline = make_pipeline(TfidfVectorizer(token_pattern="[a-z]", vocabulary={"a": 0}), SGDClassifier()).fit(
        ["a", "b"], ["x", "y"]
    )
    pipeline[0].set_params(ngram_range=(3, 1))
    joblib.dump(pipeline, tmp_path / "model.joblib")
    data = sample_corpus(100)
    with pytest.raises(InputError, match=r"model\.joblib cannot be fitted"):
        recipe_of(str(tmp_path / "model.joblib"), trust=True).fit(data, data.take([]), 1)


def test_what_cannot_be_trained_says_so() -> None:
    with pytest.raises(InputError, match="endpoint cannot be trained"):
        recipe_of("https://example.org/classify")
    with pytest.raises(InputError, match="not a recipe"):
        recipe_of("collections:OrderedDict")
    with pytest.raises(InputError, match="not a recipe"):
        recipe_of(3)
