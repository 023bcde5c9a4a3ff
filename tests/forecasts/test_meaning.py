"""Labels that mean something else are noticed; a change of topic alone is not called one."""

from __future__ import annotations

import numpy as np
import pytest
from made_answers import made_answers
from test_forecast_ladder import HOME, shifted

from unseen.forecasts.estimators import Answers
from unseen.forecasts.label_sample import ranking, strata_of
from unseen.forecasts.labelled import UNLABELLED, LabelledScore, PartlyLabelled
from unseen.forecasts.ladder import Forecast
from unseen.forecasts.meaning import meaning_test, together

RUNGS = [shifted(skill, seed) for seed, skill in enumerate((1.6, 1.3, 1.0, 0.8), start=1)]


def outcome_of(target: Answers, seed: int):
    drawn = ranking(target.probabilities, 100, seed=seed)
    labels = np.full(len(target), UNLABELLED)
    labels[drawn] = target.known[drawn]
    return meaning_test(PartlyLabelled(target.probabilities, strata_of(target.probabilities), labels), HOME, RUNGS)


def test_topics_change_nothing_and_meanings_do() -> None:
    same = [outcome_of(shifted(1.0, 20 + seed).target, seed).changed for seed in range(40)]
    assert sum(same) <= 5
    other = []
    for seed in range(20):
        target = shifted(1.3, 60 + seed).target
        renamed = np.where(np.random.default_rng(seed).random(len(target)) < 0.5, 1, target.known)  # most are b now
        other.append(outcome_of(Answers(target.probabilities, renamed), seed).changed)
    assert sum(other) >= 15


def test_few_rungs_tell_nothing() -> None:
    target = made_answers(300, 2, seed=3)
    sample = PartlyLabelled(target.probabilities, np.zeros(300, int), target.known)
    assert meaning_test(sample, HOME, RUNGS[:3]) is None


def test_together_lies_between_and_is_narrower() -> None:
    labels = LabelledScore(0.70, 0.60, 0.80, 100, 5_000, 0.5)
    ladder = Forecast("accuracy", 0.76, 0.68, 0.84, 0.85, "transport", 0.02, 0.05, 0.05, "")
    value, low, high = together(labels, ladder)
    assert 0.70 < value < 0.76
    assert high - low < 0.16
    assert value == pytest.approx(0.73, abs=0.005)
    assert together(LabelledScore(0.7, None, None, 4, 50, 0.0, "few"), ladder) is None
