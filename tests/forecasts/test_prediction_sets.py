"""Prediction sets: as MAPIE makes them, as brute force weighs them, and true to their promise at home."""

from __future__ import annotations

import numpy as np
import pytest
from made_answers import made_answers

from unseen.errors import UnknownNameError
from unseen.forecasts.estimators import Answers
from unseen.forecasts.prediction_sets import _weighted_limits, prediction_sets

HOME, TARGET = made_answers(500, 3, skill=1.0), made_answers(400, 3, skill=1.0, seed=1)


class Prepared:
    """An estimator that answers with the rows it is given."""

    classes_ = np.arange(3)

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.asarray(X)

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def by_mapie(home: Answers, target: np.ndarray) -> np.ndarray:
    mapie = pytest.importorskip("mapie.classification")
    conformal = mapie.SplitConformalClassifier(Prepared(), confidence_level=0.9, conformity_score="lac", prefit=True)
    conformal.conformalize(home.probabilities, home.known)
    return conformal.predict_set(target)[1][:, :, 0]


def test_split_sets_are_those_of_mapie() -> None:
    assert np.array_equal(prediction_sets(HOME, TARGET), by_mapie(HOME, TARGET.probabilities))


def test_sets_of_a_label_are_those_of_mapie_on_its_texts() -> None:
    ours = prediction_sets(HOME, TARGET, "label")
    for label in range(3):
        rows = HOME.known == label
        alone = Answers(HOME.probabilities[rows], HOME.known[rows])
        assert np.array_equal(ours[:, label], by_mapie(alone, TARGET.probabilities)[:, label])


def test_weighted_limits_by_brute_force() -> None:
    draw = np.random.default_rng(0)
    scores, weights, own = draw.random(30), draw.random(30), draw.random(8)
    limits = _weighted_limits(scores, weights, own, 0.9)
    for limit, weight in zip(limits, own, strict=True):
        total = weights.sum() + weight
        allowed = [score for score in sorted(scores) if weights[scores <= score].sum() / total >= 0.9]
        assert limit == (allowed[0] if allowed else np.inf)
    even = _weighted_limits(scores, np.ones(30), np.ones(1), 0.9)
    assert even[0] == np.sort(scores)[27]  # the 28th of 31


@pytest.mark.parametrize("kind", ["split", "label"])
def test_nine_of_ten_hold_at_home(kind: str) -> None:
    held = [
        prediction_sets(made_answers(300, 3, seed=seed), target, kind)[np.arange(300), target.known].mean()
        for seed in range(40)
        for target in [made_answers(300, 3, seed=100 + seed)]
    ]
    assert 0.89 <= np.mean(held) <= 0.925


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'split'"):
        prediction_sets(HOME, TARGET, "splitt")
