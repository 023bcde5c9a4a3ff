from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import log_loss

from unseen.errors import UnseenWarning
from unseen.training import RECIPES
from unseen.training.labelled_texts import label_weights, labelled_texts, warn_if_worse_than_a_constant

LABELS = ("no", "yes", "never")


def saying(*probabilities):
    """A model that gives every text the same probabilities."""
    return lambda texts: np.tile(probabilities, (len(texts), 1))


def warned(predict, train, dev, class_weights):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_if_worse_than_a_constant(predict, labelled_texts(train), labelled_texts(dev), class_weights)
    return [each.category for each in caught] == [UnseenWarning]


@pytest.fixture
def parts(tiny):
    """Nine texts to one; dev has twice as many of the small label, and one that nobody was trained on."""
    train = tiny([f"t{i}" for i in range(20)], labels=["yes"] * 2 + ["no"] * 18, label_names=LABELS)
    dev = tiny([f"d{i}" for i in range(11)], labels=["yes"] * 2 + ["no"] * 8 + ["never"], label_names=LABELS)
    return train, dev


@pytest.mark.parametrize("class_weights", ["balanced", "root", {"yes": 4}])
def test_a_model_worse_than_a_constant_is_told_of(parts, class_weights):
    """The border lies where the weighted log loss is that of the weighted shares of train."""
    train, dev = parts
    by_label = label_weights(labelled_texts(train), class_weights)
    share = 2 * by_label[1] / (by_label * [18, 2, 0]).sum()
    known = dev.take(np.flatnonzero(dev.labels != 2))

    def loss(yes):
        return log_loss(known.labels, np.tile([1 - yes, yes], (10, 1)), sample_weight=by_label[known.labels])

    seen = set()
    for yes in np.linspace(0.02, 0.98, 25):
        seen.add(expected := bool(loss(yes) > loss(share)))
        assert warned(saying(1 - yes, yes, 0.0), train, dev, class_weights) == expected
    assert seen == {True, False}


def test_nothing_is_said_without_weights_or_without_dev(parts):
    train, dev = parts
    wrong = saying(0.01, 0.99, 0.0)
    assert warned(wrong, train, dev, "balanced")
    for none in (None, False):
        assert not warned(wrong, train, dev, none)
    assert not warned(wrong, train, dev.take([]), "balanced")
    assert not warned(wrong, train, dev.take(np.flatnonzero(dev.labels == 2)), "balanced")


@pytest.mark.parametrize(
    ("name", "settings"),
    [("logistic", {"C": 1e4}), ("neural", {"rate": 0.1, "smoothing": 0.0, "patience": 99})],
)
def test_recipes_say_so(tiny, name, settings):
    """Dev says the opposite of train."""
    texts = [f"{'tea' if i % 4 else 'rain'} {i % 5}" for i in range(80)]
    labels = ["no" if i % 4 else "yes" for i in range(80)]
    train = tiny([f"t{i}" for i in range(80)], texts, labels)
    dev = tiny([f"d{i}" for i in range(80)], texts, ["yes" if each == "no" else "no" for each in labels])
    with pytest.warns(UnseenWarning, match="worse on its validation part"):
        RECIPES.make(name, class_weights="balanced", **settings).fit(train, dev, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnseenWarning)
        RECIPES.make(name, class_weights="balanced", **settings).fit(train, train, 1)
        RECIPES.make(name, **settings).fit(train, dev, 1)
