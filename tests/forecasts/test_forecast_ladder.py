"""The ladder: estimators are corrected by rungs, spread grows beyond them, and what cannot be told is not told."""

from __future__ import annotations

import numpy as np
import pytest
from made_answers import made_answers

from unseen.evaluation.metrics import metric
from unseen.forecasts.estimators import Answers, estimates, true_score
from unseen.forecasts.ladder import (
    FEWEST_REAL,
    MADE,
    Ladder,
    Line,
    Rung,
    RungFall,
    rungs_of_dropped_words,
    rungs_of_slices,
)

ACCURACY, NAMES = metric("accuracy"), ("a", "b")
HOME = made_answers(1_500, 2, skill=2.0)


def shifted(skill: float, seed: int, kind: str = "known") -> Rung:
    """Texts of which the model knows less than it says: its answers are those of a surer model."""
    answers = made_answers(1_500, 2, skill=skill, seed=seed)
    powers = answers.probabilities**1.5
    return Rung(f"{kind} {skill}", kind, HOME, Answers(powers / powers.sum(axis=1, keepdims=True), answers.labels))


def forecast(rungs: list[Rung], target: Answers):
    unlabelled = Answers(target.probabilities)
    return Ladder(rungs, NAMES).forecast(ACCURACY, HOME, unlabelled, estimates(HOME, unlabelled))


def test_a_forecast_is_corrected_by_what_rungs_show() -> None:
    rungs = [shifted(skill, seed) for seed, skill in enumerate((1.6, 1.3, 1.0, 0.8, 0.6), start=1)]
    target = shifted(0.9, 9).target
    made = forecast(rungs, target)
    truth = true_score(target, ACCURACY, NAMES)
    assert made.stands
    assert made.low < truth < made.high
    assert made.value == pytest.approx(truth, abs=0.03)
    assert made.home - truth > 0.08
    assert made.error < made.constant_error


@pytest.mark.parametrize("kind", [MADE, "subforum"])
def test_without_texts_from_elsewhere_it_does_not_stand_and_is_wider(kind: str) -> None:
    skills = (1.6, 1.3, 1.0, 0.8, 0.6)
    real, made = ([shifted(skill, seed, own) for seed, skill in enumerate(skills, start=1)] for own in ("known", kind))
    target = shifted(0.9, 9).target
    one, other = forecast(real, target), forecast(made, target)
    assert other.value == one.value
    assert other.high - other.low > 1.5 * (one.high - one.low)
    assert "mean the same" in other.why_not
    assert FEWEST_REAL > 1


def test_beyond_the_ladder_nothing_is_told() -> None:
    rungs = [shifted(skill, seed) for seed, skill in enumerate((1.95, 1.9, 1.85, 1.8, 1.75), start=1)]
    made = forecast(rungs, shifted(0.5, 9).target)
    assert not made.stands
    inside = forecast(rungs, shifted(1.8, 8).target)
    assert made.high - made.low > 1.5 * (inside.high - inside.low)


def test_rungs_that_no_estimator_foresees_are_no_ground_to_stand_on() -> None:
    """The labels of each rung are turned at random, which no answer shows."""
    draw, rungs = np.random.default_rng(0), []
    for number, share in enumerate((0.05, 0.4, 0.1, 0.5, 0.2, 0.45)):
        answers = made_answers(800, 2, seed=number)
        turned = draw.random(800) < share
        rungs.append(Rung(str(number), "known", HOME, Answers(answers.probabilities, answers.known ^ turned)))
    made = forecast(rungs, made_answers(800, 2, seed=50))
    assert not made.stands
    assert "no estimator does better" in made.why_not or "too much" in made.why_not


def test_a_line_leans_on_its_prior_and_spreads_with_distance() -> None:
    nothing = Line.of([])
    assert nothing.at(0.1)[0] == pytest.approx(0.1)
    falls = [RungFall(seen, 1.5 * seen, 1e-5) for seen in (0.0, 0.02, 0.05, 0.08, 0.1)]
    line = Line.of(falls)
    assert line.at(0.06)[0] == pytest.approx(0.09, abs=0.005)
    assert line.at(0.4)[1] > 2 * line.at(0.06)[1]
    noisy = Line.of([RungFall(fall.seen, fall.true, 0.01) for fall in falls])
    assert noisy.at(0.06)[1] > line.at(0.06)[1]


def test_words_are_left_out_and_labels_stay() -> None:
    texts = [f"one two three four number{row}" for row in range(200)] + ["alone"]
    home = Answers(np.tile([0.5, 0.5], (201, 1)), np.zeros(201, int), texts)
    asked: list[list[str]] = []

    def ask(changed: list[str]) -> list[np.ndarray]:
        asked.append(changed)
        return [home.probabilities, home.probabilities[:, ::-1]]

    rungs = rungs_of_dropped_words(home, ask, (0.2, 0.8), seed=1)
    kept = [sum(len(text.split()) for text in changed) / 1_001 for changed in asked]
    assert kept == pytest.approx([0.8, 0.27], abs=0.03)  # of five words, one always stays
    assert all(text for changed in asked for text in changed)
    assert all(set(new.split()) <= set(old.split()) for new, old in zip(asked[1], texts, strict=True))
    assert [rung.real for rung in rungs] == [False, False]
    assert rungs[0].target.labels is home.labels
    assert [len(rung.target.others) for rung in rungs] == [1, 1]
    again: list[list[str]] = []
    rungs_of_dropped_words(home, lambda changed: (again.append(changed), [home.probabilities])[1], (0.2, 0.8), seed=1)
    assert again == asked


def test_slices_with_enough_texts_are_rungs() -> None:
    home = made_answers(100, 2)
    values = ["x"] * 40 + ["y"] * 35 + ["z"] * 20 + [None] * 5
    rungs = rungs_of_slices(home, values, "place")
    assert [(rung.name, len(rung.target), len(rung.home)) for rung in rungs] == [
        ("place=x", 40, 60), ("place=y", 35, 65),
    ]  # fmt: skip
    assert rungs[0].target.known.tolist() == home.known[:40].tolist()


def test_rungs_from_elsewhere_alone_judge_where_there_are_enough() -> None:
    """An estimator that foresees words left out, but not what texts from elsewhere do, is not believed."""
    draw = np.random.default_rng(3)

    def answers(rows: int, confidence: float, accuracy: float) -> Answers:
        labels = np.where(draw.random(rows) < accuracy, 0, 1)
        return Answers(np.tile([confidence, 1 - confidence], (rows, 1)), labels)

    home = answers(4000, 0.9, 0.9)
    made = [Rung(f"made {size}", MADE, home, answers(4000, size, size)) for size in (0.85, 0.8, 0.75, 0.7)]
    truths = (0.85, 0.55, 0.8, 0.6)
    elsewhere = [Rung(f"far {size}", "known", home, answers(4000, 0.8, size)) for size in truths]
    target = Answers(np.tile([0.8, 0.2], (2000, 1)), None)
    names, accuracy = ("a", "b"), metric("accuracy")
    ladder = Ladder([*made, *elsewhere], names)
    forecast = ladder.forecast(accuracy, home, target, estimates(home, target))
    left_out = np.abs(ladder.left_out_errors(accuracy, forecast.estimator))
    assert forecast.error == pytest.approx(left_out[4:].mean())
    assert left_out[:4].mean() < 0.7 * forecast.error
    assert not forecast.stands
    assert forecast.high - forecast.low > 0.3
