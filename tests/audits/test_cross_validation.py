"""Out-of-fold predictions: nobody is judged by a model that has seen them."""

import numpy as np
import pytest

from unseen.audits import cross_validated
from unseen.audits.cross_validation import dealt
from unseen.errors import InputError

TEXTS = [f"text {i // 2 if i < 20 else i}" for i in range(100)]  # ten texts stand there twice


class Memory:
    """A recipe whose classifier is sure of the texts it has seen."""

    def __init__(self):
        self.fits = []

    def fit(self, train, dev, seed):
        self.fits.append((train, dev, seed))
        return Remembered(set(train.texts.to_pylist()) | set(dev.texts.to_pylist()), train.label_names)


class Remembered:
    def __init__(self, seen, names):
        self.seen, self.classes_ = seen, names

    def predict_proba(self, texts):
        return np.array([[1.0, 0.0] if each in self.seen else [0.25, 0.75] for each in texts])


@pytest.fixture
def data(tiny):
    ids = [f"r{i:03}" for i in range(100)]
    return tiny(ids=ids, texts=TEXTS, labels=["yes" if i < 30 else "no" for i in range(100)])


def test_no_text_is_judged_by_a_model_that_has_seen_it(data):
    recipe = Memory()
    found = cross_validated(data, recipe=recipe)
    assert np.array_equal(found.probabilities, np.tile([0.25, 0.75], (100, 1)))
    assert found.ids.to_pylist() == data.ids.to_pylist()
    assert len(recipe.fits) == 5
    assert len({seed for *_, seed in recipe.fits}) == 5
    for train, dev, _ in recipe.fits:
        assert len(dev) == pytest.approx(8, abs=3)
        assert not set(train.texts.to_pylist()) & set(dev.texts.to_pylist())


def test_only_the_rows_asked_for_are_used(data):
    rows = np.array([70, 3, 50, 9, 31, 88])
    recipe = Memory()
    found = cross_validated(data, rows, recipe=recipe, folds=3)
    assert found.ids.to_pylist() == [f"r{row:03}" for row in rows]
    used = {each for train, dev, _ in recipe.fits for part in (train, dev) for each in part.ids.to_pylist()}
    assert used == set(found.ids.to_pylist())


def test_folds_have_the_class_mix(data):
    fold = dealt(data, 5, seed=1)
    assert np.bincount(fold).min() >= 17
    for each in range(5):
        assert np.mean(data.labels[fold == each]) == pytest.approx(0.3, abs=0.1)
    assert not np.array_equal(fold, dealt(data, 5, seed=2))


def test_the_order_of_rows_decides_nothing(data):
    order = np.random.default_rng(0).permutation(100)
    assert np.array_equal(dealt(data, 5, seed=1)[order], dealt(data.take(order), 5, seed=1))


@pytest.mark.parametrize("folds", [1, 101])
def test_too_few_or_too_many_folds_are_refused(data, folds):
    with pytest.raises(InputError, match="folds"):
        cross_validated(data, recipe=Memory(), folds=folds)
