"""What copying before a split gives away, against simulation and the published figures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import f1_score

from unseen.audits.oversampling import copies_on_both_sides, free_f1, memoriser_f1, seen_in_training
from unseen.errors import InputError


def test_the_published_figures() -> None:
    p = 0.15
    assert round(copies_on_both_sides(p), 2) == 0.38
    assert copies_on_both_sides(p) == pytest.approx(3 * p * (1 - p) ** 2 + 3 * p**2 * (1 - p))
    assert round(free_f1(p), 2) == 0.55


@pytest.mark.parametrize(("p", "copies"), [(0.15, 3), (0.3, 2), (0.5, 5), (0.1, 1)])
def test_odds_against_simulation(p: float, copies: int) -> None:
    tested = np.random.default_rng(1).random((200_000, copies)) < p
    both = tested.any(axis=1) & ~tested.all(axis=1)
    assert copies_on_both_sides(p, copies) == pytest.approx(both.mean(), abs=0.005)
    with_training = np.repeat(~tested.all(axis=1), copies)[tested.ravel()].mean()
    assert seen_in_training(p, copies) == pytest.approx(with_training, abs=0.01)


def test_what_a_memoriser_scores_against_simulation() -> None:
    chance = np.random.default_rng(2)
    counts, copied, p, copies = (
        np.array([120_000, 40_000, 18_000, 10_000]),
        np.array([False, True, True, False]),
        0.2,
        3,
    )
    labels = np.repeat(np.arange(4), counts)
    rows = np.repeat(np.arange(len(labels)), np.where(copied[labels], copies, 1))
    tested = chance.random(len(rows)) < p
    in_training = np.isin(rows[tested], rows[~tested])
    said = np.where(in_training, labels[rows[tested]], 0)
    simulated = f1_score(labels[rows[tested]], said, average=None, labels=[0, 1, 2, 3], zero_division=0)
    assert memoriser_f1(counts, copied, p, copies) == pytest.approx(simulated, abs=0.003)
    assert memoriser_f1(counts, copied, p, copies)[3] == 0


def test_wrong_numbers_are_refused_together() -> None:
    with pytest.raises(InputError) as caught:
        copies_on_both_sides(1.5, 0)
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="count and a mark per class"):
        memoriser_f1([1, 2], [True], 0.1)
