"""The ranking of texts to label: nested, random within strata, more where the model is unsure."""

from __future__ import annotations

import numpy as np
import pytest
from made_answers import made_answers

from unseen.errors import InputError
from unseen.forecasts.label_sample import MOST_STRATA, ranking, strata_of


@pytest.mark.parametrize("stratified", [True, False])
def test_a_shorter_ranking_begins_a_longer_one(stratified: bool) -> None:
    probabilities = made_answers(500, 3).probabilities
    longer = ranking(probabilities, 400, seed=3, stratified=stratified)
    assert len(set(longer.tolist())) == 400
    for count in (1, 17, 100, 399):
        assert ranking(probabilities, count, seed=3, stratified=stratified).tolist() == longer[:count].tolist()
    assert ranking(probabilities, 100, seed=4, stratified=stratified).tolist() != longer[:100].tolist()


def test_strata_are_of_one_label_and_ordered_by_sureness() -> None:
    probabilities = made_answers(900, 3).probabilities
    strata, predicted = strata_of(probabilities), probabilities.argmax(axis=1)
    assert set(strata) == set(range(9))
    highest = -1.0
    for stratum in range(9):
        rows = strata == stratum
        assert len(set(predicted[rows])) == 1
        sureness = probabilities[rows].max(axis=1)
        highest = -1.0 if stratum % 3 == 0 else highest
        assert sureness.min() >= highest
        highest = sureness.max()


def test_many_labels_are_told_apart_by_sureness_alone() -> None:
    strata = strata_of(made_answers(2_000, 30).probabilities)
    assert 1 < len(set(strata)) <= MOST_STRATA


def test_every_text_of_a_stratum_is_drawn_equally_often() -> None:
    probabilities = made_answers(120, 2).probabilities
    strata = strata_of(probabilities)
    counts = np.zeros(120)
    for seed in range(600):
        counts[ranking(probabilities, 40, seed=seed)] += 1
    for stratum in set(strata):
        drawn = counts[strata == stratum]
        expected = drawn.mean()
        assert ((drawn - expected) ** 2 / expected).sum() < 2 * len(drawn)  # chi-square, twice its mean


def test_unsure_strata_get_more_than_their_share() -> None:
    probabilities = made_answers(3_000, 2).probabilities
    strata, drawn = strata_of(probabilities), ranking(probabilities, 300)
    counts, sizes = (np.bincount(some, minlength=6) for some in (strata[drawn], strata))
    assert counts[0] / sizes[0] > 1.2 * counts[2] / sizes[2]
    assert counts.min() > 0


def test_more_labels_than_texts_are_refused() -> None:
    with pytest.raises(InputError, match="labels are for some of the texts"):
        ranking(made_answers(10).probabilities, 11)
