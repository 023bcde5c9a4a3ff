"""Suspect labels where the truth is known."""

import numpy as np
import pytest

from unseen.audits import cross_validated, suspect_labels
from unseen.data.sample import sample_corpus
from unseen.errors import InputError


def test_a_case_worked_by_hand():
    """Thresholds are .7 and .6: rows 2 and 5 reach the other's; row 6 reaches it, but its own label is likelier."""
    first = np.array([0.9, 0.8, 0.4, 0.7, 0.4, 0.85, 0.35, 0.0])
    first[3] = 4 * 0.7 - (0.9 + 0.8 + 0.4)
    p = np.column_stack([first, 1 - first])
    gold = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    found = suspect_labels(gold, p)
    assert found.thresholds == pytest.approx([0.7, (0.6 + 0.15 + 0.65 + 1.0) / 4])
    assert found.places.tolist() == [5, 2]  # margins -.7 and -.2
    assert found.guesses.tolist() == [0, 1]
    assert found.joint == pytest.approx(np.array([[3 / 8, 1 / 8], [1 / 8, 3 / 8]]))
    assert found.noise == pytest.approx(0.25)


def test_a_label_that_is_still_the_likeliest_is_no_suspect():
    """Row 2 is below its own threshold and above that of the other, which is low."""
    p = np.array([[0.95, 0.05], [0.95, 0.05], [0.55, 0.45], [0.7, 0.3], [0.6, 0.4]])
    found = suspect_labels(np.array([0, 0, 0, 1, 1]), p)
    assert found.thresholds[1] < 0.45
    assert 2 not in found.places


def test_a_label_without_rows_suspects_nobody():
    found = suspect_labels(np.array([0, 1, 0, 1]), np.array([[0.1, 0.1, 0.8]] * 4))
    assert np.isnan(found.thresholds[2])
    assert found.joint[:, 2].tolist() == [0, 0, 0]
    assert found.joint.sum() == pytest.approx(1)


def test_noise_of_known_places_is_found():
    draw = np.random.default_rng(0)
    true = draw.integers(4, size=4000)
    noisy = draw.random(4000) < 0.1
    gold = np.where(noisy, (true + 1 + draw.integers(3, size=4000)) % 4, true)
    scores = draw.normal(0, 1, (4000, 4)) + 3.5 * np.eye(4)[true]
    p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    found = suspect_labels(gold, p)
    hits = noisy[found.places].sum()
    assert hits / len(found.places) > 0.8
    assert hits / noisy.sum() > 0.7
    assert noisy[found.places[:100]].mean() > 0.98
    assert found.noise == pytest.approx(0.1, abs=0.04)


def test_nothing_to_look_at_is_refused():
    with pytest.raises(InputError, match="one label per row"):
        suspect_labels(np.array([0, 1]), np.ones((1, 2)))


@pytest.mark.slow
def test_wrong_labels_of_the_sample_are_found():
    data = sample_corpus(1500)
    found = suspect_labels(data.labels, cross_validated(data).probabilities)
    noisy = np.array(data.attribute("noisy").to_pylist()) == "yes"
    hits = noisy[found.places].sum()
    assert hits / len(found.places) > 8 * noisy.mean()
    assert hits / noisy.sum() > 0.5
