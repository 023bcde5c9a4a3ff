"""Estimators without labels: exact where they must be, right where their assumption holds."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import made_answers

from unseen.errors import InputError
from unseen.evaluation.metrics import metric
from unseen.forecasts import estimators
from unseen.forecasts.estimators import ESTIMATORS, Answers, estimates, score_of, true_score, with_accuracy

NAMES = ("a", "b", "c")
ACCURACY = metric("accuracy")


def accuracy(joint: np.ndarray) -> float:
    return float(np.trace(joint))


@pytest.mark.parametrize("k", [2, 3])
def test_every_estimator_gives_a_joint_table_with_the_predicted_shares(k: int) -> None:
    home, target = made_answers(600, k), made_answers(500, k, skill=1.0, seed=1)
    texts = [f"word{row % 7} other{row % 3}" for row in range(600)]
    home = Answers(home.probabilities, home.labels, texts)
    target = Answers(target.probabilities, None, texts[:500], (target.probabilities[::-1],))
    tables = estimates(home, target)
    assert list(tables) == list(ESTIMATORS)
    for name, joint in tables.items():
        assert joint.shape == (k, k)
        assert joint.sum() == pytest.approx(1), name
        assert joint.min() >= 0, name
        if name not in ("importance-weighting", "label-shift", "transport"):
            shares = np.bincount(target.predicted, minlength=k) / 500
            assert joint.sum(axis=0) == pytest.approx(shares), name


@given(
    st.lists(st.floats(0.01, 1), min_size=9, max_size=9), st.floats(0, 1)
)  # fmt: skip
def test_a_table_gets_the_accuracy_asked_for(cells: list[float], asked: float) -> None:
    joint = np.array(cells).reshape(3, 3) / sum(cells)
    changed = with_accuracy(joint, asked)
    assert accuracy(changed) == pytest.approx(asked, abs=1e-6)
    assert changed.sum(axis=0) == pytest.approx(joint.sum(axis=0), abs=1e-6)
    assert changed.min() >= -1e-12


@pytest.mark.parametrize("name", ["difference-of-confidence", "threshold-confidence", "threshold-entropy"])
def test_at_home_they_say_the_score_at_home(name: str) -> None:
    home = made_answers(900, 3)
    joint = ESTIMATORS.get(name)(home, Answers(home.probabilities))
    assert accuracy(joint) == pytest.approx(true_score(home, ACCURACY, NAMES), abs=2 / 900)


def test_average_confidence_is_right_where_sureness_is() -> None:
    home, target = made_answers(4_000, 3), made_answers(4_000, 3, skill=1.0, seed=2)
    joint = estimators.average_confidence(home, Answers(target.probabilities))
    for name in ("accuracy", "f1.macro", "f1[b]"):
        truth = true_score(target, metric(name), NAMES)
        assert score_of(joint, metric(name), NAMES) == pytest.approx(truth, abs=0.03)
    hot = Answers(_sharpened(home.probabilities), home.labels)  # too sure everywhere: the temperature mends it
    mended = estimators.average_confidence(hot, Answers(_sharpened(target.probabilities)))
    assert accuracy(mended) == pytest.approx(accuracy(joint), abs=0.005)


def _sharpened(probabilities: np.ndarray) -> np.ndarray:
    powers = probabilities**3
    return powers / powers.sum(axis=1, keepdims=True)


def test_transport_is_the_cheapest_by_brute_force() -> None:
    draw = np.random.default_rng(3)
    probabilities, seats = draw.dirichlet(np.ones(3), size=6), np.array([0, 0, 1, 1, 2, 2])
    best = max(probabilities[np.arange(6), list(order)].sum() for order in set(permutations(seats.tolist())))
    rows, labels = estimators._assigned(probabilities, np.full(3, 1 / 3))
    assert probabilities[rows, labels].sum() == pytest.approx(best)
    two = draw.dirichlet(np.ones(2), size=40)
    _, ranked = estimators._ranked(two, np.array([0.3, 0.7]))
    _, assigned = estimators._assigned(two, np.array([0.3, 0.7]))
    assert two[np.arange(40), ranked].sum() == pytest.approx(two[np.arange(40), assigned].sum())
    assert ranked.sum() == 28


def test_label_shift_sees_another_mix() -> None:
    home = made_answers(8_000, 3, skill=1.5)
    target = made_answers(8_000, 3, skill=1.5, seed=4)
    mix = np.array([0.1, 0.2, 0.7])
    rows = np.random.default_rng(5).choice(8_000, size=6_000, p=mix[target.known] / mix[target.known].sum())
    shifted = Answers(target.probabilities[rows], target.known[rows])
    joint = estimators.label_shift(home, Answers(shifted.probabilities))
    assert joint.sum(axis=1) == pytest.approx(mix, abs=0.03)
    assert accuracy(joint) == pytest.approx(true_score(shifted, ACCURACY, NAMES), abs=0.02)


def test_importance_weighting_counts_the_texts_that_are_like_the_target() -> None:
    texts = ["rain and wind"] * 300 + ["goal and team"] * 300
    labels = np.zeros(600, int)
    wrong = np.repeat([0, 1], 300)  # right about the weather, wrong about the match
    home = Answers(np.eye(2)[wrong], labels, texts)
    target = Answers(np.eye(2)[np.zeros(200, int)], None, ["goal and team"] * 200)
    assert accuracy(estimators.importance_weighting(home, target)) < 0.2
    with pytest.raises(InputError, match="compares texts"):
        estimators.importance_weighting(Answers(home.probabilities, labels), target)


def test_agreement_needs_other_seeds() -> None:
    home = made_answers(100, 2)
    with pytest.raises(InputError, match="other seeds"):
        estimators.agreement(home, Answers(home.probabilities))
    other = home.probabilities.copy()
    other[:25] = other[:25, ::-1]
    joint = estimators.agreement(home, Answers(home.probabilities, others=(other,)))
    assert accuracy(joint) == pytest.approx(0.75)
