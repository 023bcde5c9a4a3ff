"""The formulas, by the worked numbers of the papers' descriptions."""

from __future__ import annotations

import numpy as np
import pytest

from unseen.attacks.importance import deletion_importance, weighted_importance


def test_weighted_saliency_by_worked_numbers() -> None:
    scores = weighted_importance(np.array([0.40, 0.10, 0.05]), np.array([0.10, 0.30, 0.02]))
    assert scores == pytest.approx([0.0409, 0.0909, 0.0058], abs=5e-5)


def test_the_softmax_is_of_what_is_lost_not_of_what_is_left() -> None:
    """A case in which a variant that takes the softmax of the remaining probability puts the other word first."""
    scores = weighted_importance(np.array([0.60, 0.00]), np.array([0.02, 0.04]))
    assert scores == pytest.approx([0.0129, 0.0142], abs=5e-5)
    assert scores.argmax() == 1


def test_deletion_that_keeps_the_label_is_what_it_loses() -> None:
    whole, without = np.array([0.7, 0.2, 0.1]), np.array([[0.5, 0.3, 0.2]])
    assert deletion_importance(whole, without, 0) == pytest.approx([0.2])


def test_deletion_that_flips_the_label_adds_what_the_new_one_gains() -> None:
    whole, without = np.array([0.7, 0.2, 0.1]), np.array([[0.3, 0.6, 0.1]])
    assert deletion_importance(whole, without, 0) == pytest.approx([0.4 + 0.4])
