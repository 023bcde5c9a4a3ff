"""Marks for telling words."""

from __future__ import annotations

from unseen.data.sample import sample_corpus
from unseen.runs.training_steps import Lexicon, MarkedClassifier
from unseen.training import RECIPES
from unseen.types import Dataset


class Reading:
    """A recipe that remembers what it was given to read."""

    def fit(self, train: Dataset, dev: Dataset, seed: int) -> Reading:
        self.texts = train.texts.to_pylist()
        self.classes_ = train.label_names
        return self

    def predict_proba(self, texts: list[str]) -> list[list[float]]:
        self.asked = texts
        return [[1.0, 0.0, 0.0]] * len(texts)


def test_a_lexicon_holds_words_that_lean_to_a_label() -> None:
    data = sample_corpus(400)
    lexicon = Lexicon.of(data, top=20)
    assert set(lexicon.words) == set(data.label_names)
    name = data.label_names[0]
    texts = data.texts.to_pylist()
    marked = [f"lexicon0{name}" in lexicon.mark(text) for text in texts]
    inside = [mark for mark, label in zip(marked, data.labels, strict=True) if label == 0]
    outside = [mark for mark, label in zip(marked, data.labels, strict=True) if label != 0]
    assert sum(inside) / len(inside) > 2 * sum(outside) / len(outside)


def test_what_is_trained_on_and_what_is_asked_are_marked() -> None:
    data = sample_corpus(160)
    lexicon = Lexicon({"any": frozenset({"zebra"})})
    recipe = Reading().fit(lexicon.marked(data), data, 1)
    assert recipe.texts == data.texts.to_pylist()
    MarkedClassifier(recipe, lexicon).predict_proba(["a zebra", "a horse"])
    assert recipe.asked == ["a zebra lexicon0any", "a horse"]


def test_a_marked_model_answers_like_any_other() -> None:
    data = sample_corpus(200)
    lexicon = Lexicon.of(data)
    found = MarkedClassifier(RECIPES.make("logistic").fit(lexicon.marked(data), data, 1), lexicon)
    assert found.predict_proba(["well", "done"]).shape == (2, 3)
