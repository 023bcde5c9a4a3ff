"""Scores from a few labels: unbiased, as wide as they must be, and the same as another library's."""

from __future__ import annotations

import numpy as np
import pytest
from made_answers import made_answers

from unseen.errors import InputError
from unseen.evaluation.metrics import metric
from unseen.forecasts.label_sample import ranking, strata_of
from unseen.forecasts.labelled import UNLABELLED, PartlyLabelled

NAMES = ("a", "b", "c")


def labelled(answers, count: int, seed: int = 0, stratified: bool = True) -> PartlyLabelled:
    drawn = ranking(answers.probabilities, count, seed=seed, stratified=stratified)
    labels = np.full(len(answers), UNLABELLED)
    labels[drawn] = answers.known[drawn]
    strata = strata_of(answers.probabilities) if stratified else np.zeros(len(answers), np.int64)
    return PartlyLabelled(answers.probabilities, strata, labels)


@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1[b]", "f1.weighted", "recall[c]"])
def test_with_every_label_it_is_the_score(name: str) -> None:
    answers, chosen = made_answers(400, 3), metric(name)
    score = labelled(answers, 400).score(chosen, NAMES)
    assert score.value == pytest.approx(chosen(answers.known, answers.probabilities, NAMES), abs=1e-9)


def test_it_is_prediction_powered_as_ppi_python_has_it() -> None:
    """Of a simple random sample, the accuracy: PPI++ with its tuned weight; all texts, not only the unlabelled ones."""
    ppi = pytest.importorskip("ppi_py")
    answers = made_answers(60_000, 3, skill=1.0)
    sample = labelled(answers, 300, stratified=False)
    score, known = sample.score(metric("accuracy"), NAMES), sample.known
    sure, predicted = answers.probabilities.max(axis=1), answers.predicted
    right = (predicted == answers.known).astype(float)
    theirs = ppi.ppi_mean_pointestimate(right[known], sure[known], sure[~known])
    low, high = ppi.ppi_mean_ci(right[known], sure[known], sure[~known], alpha=0.05)
    assert score.value == pytest.approx(float(theirs.item()), abs=1e-3)
    assert score.high - score.low == pytest.approx(float((high - low).item()), rel=0.04)
    assert 0.5 < score.trust <= 1


@pytest.mark.parametrize("name", ["accuracy", "f1.macro", "f1[b]"])
@pytest.mark.parametrize("flipped", [0.0, 0.5])
def test_intervals_hold_whatever_the_model_is_worth(name: str, flipped: float) -> None:
    """Half of the texts of one label are called another: the model is sure and wrong, and intervals still hold."""
    answers = made_answers(3_000, 3, skill=1.2, seed=5)
    labels = answers.known.copy()
    turned = (labels == 0) & (np.random.default_rng(1).random(len(labels)) < flipped)
    labels[turned] = 1
    answers = type(answers)(answers.probabilities, labels)
    truth, held, values = metric(name)(labels, answers.probabilities, NAMES), 0, []
    for seed in range(300):
        score = labelled(answers, 120, seed).score(metric(name), NAMES)
        held += score.low <= truth <= score.high
        values.append(score.value)
    assert 0.915 <= held / 300 <= 0.985
    assert np.mean(values) == pytest.approx(truth, abs=0.012)


def test_a_model_that_knows_something_makes_the_interval_narrower() -> None:
    """What one label's F1 gains: predictions of the other texts are known, and tell how many are of the label."""
    answers = made_answers(5_000, 2, skill=1.5)
    ours = [labelled(answers, 100, seed).score(metric("f1[b]"), ("a", "b")) for seed in range(30)]
    blind = (
        np.tile([0.5, 0.5], (5_000, 1)) + np.array([[1e-9, -1e-9]]) * np.where(answers.predicted == 0, 1, -1)[:, None]
    )
    plain = [
        PartlyLabelled(blind, np.zeros(5_000, np.int64), sample.labels).score(metric("f1[b]"), ("a", "b"))
        for sample in (labelled(answers, 100, seed, stratified=False) for seed in range(30))
    ]
    assert np.mean([score.width for score in ours]) < 0.9 * np.mean([score.width for score in plain])


def test_groups_are_scored_by_their_own_labels() -> None:
    answers = made_answers(1_000, 2)
    sample, group = labelled(answers, 200), np.arange(1_000) < 300
    alone = PartlyLabelled(sample.probabilities[group], sample.strata[group], sample.labels[group])
    score = sample.score(metric("accuracy"), ("a", "b"), group)
    assert score == alone.score(metric("accuracy"), ("a", "b"))
    assert score.texts == 300
    nobody = sample.score(metric("accuracy"), ("a", "b"), ~sample.known & group)
    assert (nobody.value, nobody.why) == (None, "none of these texts is labelled")


def test_all_right_is_no_certainty_and_few_of_a_class_no_interval() -> None:
    answers = made_answers(500, 2, skill=9.0)
    score = labelled(answers, 50).score(metric("accuracy"), ("a", "b"))
    assert score.value == 1
    assert 0.85 < score.low < 0.95
    rare = made_answers(2_000, 2, mix=[0.99, 0.01])
    score = labelled(rare, 60).score(metric("f1[b]"), ("a", "b"))
    assert score.low is None
    assert score.why in ("fewer than 5 labelled texts are rightly called b", "no labelled text is of the class")


def test_more_labels_for_a_narrower_interval() -> None:
    score = labelled(made_answers(50_000, 2, skill=1.0), 100).score(metric("accuracy"), ("a", "b"))
    assert score.labels_for(score.width) == 100
    assert score.labels_for(score.width / 2) == 400
    assert score.labels_for(1e-6) == 50_000


def test_what_labels_do_not_decide_is_refused() -> None:
    with pytest.raises(InputError, match="not decided by labels alone"):
        labelled(made_answers(100), 20).score(metric("log_loss"), ("a", "b"))
    with pytest.raises(InputError, match="no text is labelled"):
        PartlyLabelled(made_answers(5).probabilities, np.zeros(5, int), np.full(5, UNLABELLED))
