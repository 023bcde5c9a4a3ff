"""Training that goes on from a trained classifier: it keeps what was learnt, matches labels by name, and says no."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tiny_data import build
from tiny_transformer import write_transformer
from unseen.errors import InputError, MismatchError
from unseen.training import RECIPES, transformer
from unseen.training.neural import HashedNetwork, NeuralClassifier
from unseen.training.transformer import Transformer, TransformerClassifier, copy_weights
from unseen.training.warm_start import can_start_warm, require_warm_start
from unseen.types import Dataset

WORDS = {"calm": ["rain", "cloud", "leaf", "river"], "loud": ["drum", "horn", "crowd", "siren"]}
OTHERS = {"calm": ["snow", "mist", "root", "lake"], "loud": ["bell", "gong", "march", "alarm"]}
FILLERS = ["the", "a", "on", "by", "of", "near", "old", "new"]


def texts_of(
    words: dict[str, list[str]], number: int, seed: int = 0, label_names: tuple[str, str] = ("calm", "loud")
) -> Dataset:
    """Texts of which two words tell the label."""
    draw = np.random.default_rng(seed)
    labels = ["calm" if code else "loud" for code in draw.integers(2, size=number)]
    texts = [" ".join([*draw.choice(words[label], 2), *draw.choice(FILLERS, 2)]) for label in labels]
    return build([f"t{seed}-{each}" for each in range(number)], texts, labels, label_names)


@pytest.fixture(scope="module")
def first() -> NeuralClassifier:
    return HashedNetwork(epochs=8).fit(texts_of(WORDS, 300), texts_of(WORDS, 40, 1), 42)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    words = [word for each in (WORDS, OTHERS) for listed in each.values() for word in listed]
    return str(write_transformer(tmp_path_factory.mktemp("bert") / "bert", [*words, *FILLERS]))


@pytest.fixture(scope="module")
def fine_tuned(checkpoint: str) -> TransformerClassifier:
    return recipe(checkpoint).fit(texts_of(WORDS, 120), texts_of(WORDS, 30, 1), 42)


def recipe(folder: str, **settings: Any) -> Transformer:
    return Transformer(folder, **{"epochs": 2, "batch": 8, "learning_rate": 3e-3, "bottleneck": 5, **settings})


def right(classifier: Any, data: Dataset) -> float:
    names = np.array(classifier.classes_)[classifier.predict_proba(data.texts.to_pylist()).argmax(1)]
    return float((names == np.array(data.label_names)[data.labels]).mean())


def test_a_network_keeps_its_terms_and_learns_new_ones(first: NeuralClassifier) -> None:
    """At a rate of almost nothing the old probabilities come back; at the usual one new words are learnt."""
    train, dev, old = texts_of(OTHERS, 300, 2), texts_of(OTHERS, 40, 3), texts_of(WORDS, 100, 4)
    still = HashedNetwork(epochs=1, rate=1e-12).fit(train, dev, 7, start=first)
    texts = ["rain cloud", "drum horn", "horn the siren"]  # no term of the new texts alone
    np.testing.assert_allclose(still.predict_proba(texts), first.predict_proba(texts), atol=1e-5)
    assert set(first.terms.seen) < set(still.terms.seen)
    known = np.isin(still.terms.seen, first.terms.seen)
    assert np.array_equal(still.terms.weights[known], first.terms.weights)
    after = HashedNetwork(epochs=8).fit(train, dev, 7, start=first)
    assert right(first, texts_of(OTHERS, 100, 5)) < 0.75
    assert right(after, texts_of(OTHERS, 100, 5)) > 0.95
    assert right(after, old) > 0.95
    fresh = HashedNetwork(epochs=8).fit(train, dev, 7)
    assert right(fresh, old) < 0.75


def test_a_network_matches_labels_by_name(first: NeuralClassifier) -> None:
    """The new data declares the labels the other way round."""
    turned = ("loud", "calm")
    train, dev = texts_of(OTHERS, 300, 2, turned), texts_of(OTHERS, 40, 3, turned)
    still = HashedNetwork(epochs=1, rate=1e-12).fit(train, dev, 7, start=first)
    assert still.classes_ == turned
    np.testing.assert_allclose(
        still.predict_proba(["drum horn"]), first.predict_proba(["drum horn"])[:, ::-1], atol=1e-5
    )
    assert right(still, texts_of(WORDS, 100, 4)) > 0.95


def test_a_network_that_went_on_comes_back_from_its_folder(first: NeuralClassifier, tmp_path: Path) -> None:
    train, dev = texts_of(OTHERS, 100, 2), texts_of(OTHERS, 20, 3)
    before = first.predict_proba(["drum snow"]).copy()
    after = HashedNetwork(epochs=2).fit(train, dev, 7, start=first)
    after.save(tmp_path / "model")
    loaded = NeuralClassifier.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(["drum snow"]), after.predict_proba(["drum snow"]))
    assert np.array_equal(first.predict_proba(["drum snow"]), before)  # who was started from stays as it was
    first.save(tmp_path / "start")
    again = HashedNetwork(epochs=2).fit(train, dev, 7, start=NeuralClassifier.load(tmp_path / "start"))
    assert np.array_equal(again.predict_proba(["drum snow"]), after.predict_proba(["drum snow"]))


def test_a_transformer_begins_with_the_weights_it_is_given(
    fine_tuned: TransformerClassifier, checkpoint: str, tmp_path: Path
) -> None:
    turned = ("loud", "calm")
    train, dev = texts_of(OTHERS, 40, 2, turned), texts_of(OTHERS, 10, 3, turned)
    fine_tuned.save(tmp_path / "start")
    start = TransformerClassifier.load(tmp_path / "start")
    still = recipe(checkpoint, epochs=1, learning_rate=1e-12).fit(train, dev, 7, start=start)
    texts = texts_of(WORDS, 30, 4).texts.to_pylist()
    np.testing.assert_allclose(still.predict_proba(texts), fine_tuned.predict_proba(texts)[:, ::-1], atol=1e-5)
    fresh = recipe(checkpoint, epochs=1, learning_rate=1e-12).fit(train, dev, 7)
    assert np.abs(fresh.predict_proba(texts) - still.predict_proba(texts)).max() > 0.1


def test_a_killed_transformer_that_went_on_ends_the_same(
    fine_tuned: TransformerClassifier, checkpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And progress made from another start is not taken for its own."""
    monkeypatch.setattr(transformer, "CHECKPOINT_SECONDS", 0.0)
    train, dev = texts_of(OTHERS, 40, 2), texts_of(OTHERS, 10, 3)
    whole = recipe(checkpoint).fit(train, dev, 7, start=fine_tuned)
    step, done = transformer._step, []

    def dying(*arguments: Any) -> None:
        done.append(1)
        if len(done) == 4:
            raise KeyboardInterrupt
        step(*arguments)

    monkeypatch.setattr(transformer, "_step", dying)
    with pytest.raises(KeyboardInterrupt):
        recipe(checkpoint).fit(train, dev, 7, start=fine_tuned, scratch=tmp_path)
    monkeypatch.setattr(transformer, "_step", step)
    other = recipe(checkpoint).fit(texts_of(WORDS, 40, 8), texts_of(WORDS, 10, 9), 1)
    fresh, resumed = (
        recipe(checkpoint).fit(train, dev, 7, start=each, scratch=folder)
        for each, folder in ((other, _copied(tmp_path)), (fine_tuned, tmp_path))
    )
    expected = whole.modules.state_dict()
    assert all(torch.equal(each, expected[name]) for name, each in resumed.modules.state_dict().items())
    unbroken = recipe(checkpoint).fit(train, dev, 7, start=other).modules.state_dict()
    assert all(torch.equal(each, unbroken[name]) for name, each in fresh.modules.state_dict().items())


def _copied(folder: Path) -> Path:
    import shutil

    return Path(shutil.copytree(folder, folder.with_name("copied")))


def test_the_hash_of_a_start_is_of_its_weights(fine_tuned: TransformerClassifier, checkpoint: str) -> None:
    empty = recipe(checkpoint, epochs=1).fit(texts_of(WORDS, 16), texts_of(WORDS, 8, 1), 1)
    first = copy_weights(fine_tuned, empty)
    assert copy_weights(fine_tuned, empty) == first
    with torch.no_grad():
        fine_tuned.head.dense.bias[0] += 1
    assert copy_weights(fine_tuned, empty) != first
    with torch.no_grad():
        fine_tuned.head.dense.bias[0] -= 1


def test_what_cannot_be_started_from_is_refused(
    first: NeuralClassifier, fine_tuned: TransformerClassifier, checkpoint: str
) -> None:
    train, dev = texts_of(OTHERS, 30, 2), texts_of(OTHERS, 10, 3)
    three = build([f"x{n}" for n in range(6)], None, None, ("calm", "loud", "odd"))
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: HashedNetwork(width=8).fit(train, dev, 1, start=first), "width is 32 there and 8 here"),
        (lambda: HashedNetwork().fit(train, dev, 1, start=fine_tuned), "expected: a NeuralClassifier"),
        (lambda: HashedNetwork().fit(three, three, 1, start=first), "does not know the label 'odd'"),
        (lambda: recipe(checkpoint).fit(train, dev, 1, start=first), "expected: a TransformerClassifier"),
        (lambda: recipe(checkpoint, bottleneck=3).fit(train, dev, 1, start=fine_tuned), "bottleneck is 5 there"),
    ]
    for call, said in wrong:
        with pytest.raises((InputError, MismatchError)) as caught:
            call()
        assert said in str(caught.value)


def test_who_can_go_on_is_known_before_anything_is_trained() -> None:
    assert [name for name in RECIPES if can_start_warm(RECIPES.get(name))] == [
        "transformer", "adaptive", "neural", "cnn-gru", "birnn", "birnn-attention",
    ]  # fmt: skip
    require_warm_start(HashedNetwork(), "neural")
    with pytest.raises(InputError, match=r"logistic cannot go on(.|\n)*one of transformer, adaptive, neural"):
        require_warm_start(RECIPES.make("logistic"), "logistic")
