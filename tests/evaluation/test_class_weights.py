"""Weights of classes: the demands of Harbecke et al. (2022), imbalance, winners by weighting, effects over seeds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, MismatchError
from unseen.evaluation.class_weights import (
    Breach,
    Flip,
    SeedScores,
    alpha_sweep,
    breaches,
    crossings,
    imbalance,
    rank_flips,
    welch,
)
from unseen.evaluation.weighting import Weighting

SEMEVAL = np.array([134, 194, 162, 150, 153, 39, 291, 1, 211, 47, 22, 134, 32, 201, 210, 51, 108, 123, 454], float)
"""Nine relations in both directions, then Other: the test part of SemEval 2010 task 8."""
TACRED = np.array(
    [
        500, 346, 264, 213, 200, 189, 148, 132, 108, 103, 88, 82, 81, 68, 66, 62, 60, 55, 54, 52, 51, 47, 44, 37, 37,
        31, 30, 28, 26, 19, 18, 14, 13, 11, 10, 9, 9, 8, 5, 5, 2, 12184,
    ],
    float,
)  # fmt: skip
"""41 relations, then none of them."""


def names_of(counts):
    return [f"c{place}" for place in range(len(counts))]


def weights_of(counts, scheme, inside=None):
    return Weighting.parsed(scheme, inside).weights(counts, names_of(counts))


def test_imbalance_of_semeval():
    directed = imbalance(SEMEVAL, [18])
    assert [round(number, 2) for number in directed] == [14.45, 14.37, 291.0]
    both = np.append(SEMEVAL[:18].reshape(9, 2).sum(axis=1), SEMEVAL[18])
    assert [round(number, 2) for number in imbalance(both, [9])] == [9.61, 8.80, 2.10]


def test_imbalance_of_tacred():
    assert TACRED[:41].sum() == 3325
    assert [round(number, 2) for number in imbalance(TACRED, [41])] == [3.31, 23.39, 250.0]


def test_imbalance_of_even_classes_is_their_number():
    assert imbalance(np.array([5.0, 5.0, 0.0, 5.0])) == pytest.approx((3, 3, 1))
    with pytest.raises(InputError, match="no class with rows is left"):
        imbalance(np.array([5.0, 0.0]), [0])


@pytest.mark.parametrize(
    ("scheme", "inside", "largest", "smallest_twenty"),
    [
        ("weighted", "exclude=c41", 0.1504, 0.1212),
        ("dodrans", "exclude=c41", 0.1065, 0.1832),
        ("entropy", "exclude=c41", 0.1101, 0.1658),
        ("entropy", "exclude=c41,total=included", 0.0904, 0.1875),
        ("macro", "exclude=c41", 0.0244, 0.4878),
    ],
)
def test_weights_on_tacred(scheme, inside, largest, smallest_twenty):
    weights = weights_of(TACRED, scheme, inside)
    assert weights[0] == pytest.approx(largest, abs=5e-5)
    assert weights[21:41].sum() == pytest.approx(smallest_twenty, abs=5e-5)


@pytest.mark.parametrize(
    ("scheme", "weight"), [("weighted", 0.00044), ("dodrans", 0.00155), ("entropy", 0.00123), ("macro", 0.0556)]
)
def test_the_weight_of_a_class_with_one_text(scheme, weight):
    assert weights_of(SEMEVAL, scheme, "exclude=c18")[7] == pytest.approx(weight, rel=5e-3)


def test_entropy_breaks_d1_and_says_by_which_classes():
    counts = np.array([600.0, 300.0, 80.0, 20.0])
    assert breaches(counts, weights_of(counts, "entropy"), "ABCD") == [Breach("D1", "A", "B")]
    for scheme in ("macro", "dodrans", "weighted"):
        assert breaches(counts, weights_of(counts, scheme), "ABCD") == []


def test_breaches_by_hand():
    counts = np.array([4.0, 2.0, 0.0])
    assert breaches(counts, np.array([0.9, 0.1, 0.0]), "abc") == [Breach("D2", "a", "b")]
    assert breaches(counts, np.array([0.3, 0.6, 0.0]), "abc") == [Breach("D0"), Breach("D1", "a", "b")]
    even = np.array([3.0, 3.0])
    assert [each.demand for each in breaches(even, np.array([0.4, 0.6]), "ab")] == ["D1", "D2"], "as many rows, as much"


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.floats(0, 1))
def test_every_power_keeps_all_demands(counts, power):
    rows = np.array(counts, float)
    assert breaches(rows, weights_of(rows, "power", repr(power)), names_of(rows)) == []


CLASSES = st.lists(st.tuples(st.integers(1, 300), st.integers(-9, 9)), min_size=1, max_size=7)


@given(CLASSES)
def test_crossings_are_all_changes_of_sign_on_a_fine_grid(classes):
    counts, differences = np.array(classes, float).T
    grid = np.linspace(0, 1, 20_001)
    values = (counts[:, None] ** grid * differences[:, None]).sum(axis=0)
    signs = np.sign(np.where(np.abs(values) < 1e-9 * np.abs(differences).sum() * counts.max(), 0, values))
    seen = np.flatnonzero(signs)
    expected = [
        (grid[low], grid[high]) for low, high in pairwise(seen) if signs[low] != signs[high]
    ]  # fmt: skip
    found = crossings(differences, counts)
    for low, high in expected:
        assert sum(low - 1e-4 <= root <= high + 1e-4 for root in found) % 2 == 1
    assert len(found) >= len(expected)
    for root in found:
        assert abs((counts**root * differences).sum()) < 1e-7 * np.abs(differences).sum() * counts.max()


def test_two_changes_closer_than_a_grid_are_both_there():
    """(x − 2.000)(x − 2.0005) with x = 2^(2α): counts 1, 4 and 16; both roots between two points of a grid of 0.001."""
    roots = [2.0, 2.0005]
    found = crossings(np.array([roots[0] * roots[1], -sum(roots), 1.0]), np.array([1.0, 4.0, 16.0]))
    assert found == pytest.approx([np.log2(root) / 2 for root in roots], abs=1e-9)


def test_the_winner_changes_where_two_scores_are_equal():
    counts = np.array([100.0, 1.0])
    sweep = alpha_sweep({"frequent": (np.array([0.9, 0.1]), counts), "rare": (np.array([0.6, 0.8]), counts)})
    (change,) = sweep.changes
    assert (change.before, change.after) == ("rare", "frequent")
    assert change.alpha == pytest.approx(np.log(0.7 / 0.3) / np.log(100))
    assert sweep.at(change.alpha)[0] == pytest.approx(sweep.at(change.alpha)[1])
    assert sweep.at(0).tolist() == pytest.approx([0.5, 0.7])
    assert sweep.at(1).tolist() == pytest.approx([90.1 / 101, 60.8 / 101])


@given(st.integers(0, 10**6))
def test_winners_are_those_of_a_grid(seed):
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 400, size=6).astype(float)
    counts[0] = 7.0
    models = {f"m{number}": (draw.random(6), counts) for number in range(4)}
    sweep = alpha_sweep(models)
    for alpha in draw.random(50):
        passed = [change.after for change in sweep.changes if change.alpha <= alpha]
        first = sweep.changes[0].before if sweep.changes else sweep.models[sweep.at(0.5).argmax()]
        scores = sweep.at(alpha)
        assert scores[sweep.models.index([first, *passed][-1])] >= scores.max() - 1e-9


def test_models_on_other_rows_are_not_compared():
    with pytest.raises(MismatchError, match="different rows"):
        alpha_sweep({"a": (np.ones(2), np.array([1.0, 2.0])), "b": (np.ones(2), np.array([2.0, 2.0]))})
    same = (np.array([0.5, 0.25]), np.array([3.0, 4.0]))
    assert alpha_sweep({"a": same, "b": same}).changes == ()


def test_rank_flips_name_the_schemes():
    scores = {
        "micro": {"a": 0.9, "b": 0.8, "c": 0.1},
        "macro": {"a": 0.5, "b": 0.6, "c": 0.1},
        "dodrans": {"a": 0.7, "b": 0.7, "c": 0.1},
    }
    assert rank_flips(scores) == [Flip("a", "b", ("micro",), ("macro",))]


@pytest.mark.parametrize(
    ("one", "other", "published_d", "published_p"),
    [
        ((72.5, 0.3), (71.5, 0.4), 2.8, 3e-3),
        ((72.1, 0.5), (67.8, 0.4), 8.7, 3e-6),
        ((69.8, 0.5), (62.5, 0.4), 14.8, 1e-8),
        ((70.3, 0.5), (63.6, 0.4), 13.5, 2e-8),
        ((60.3, 0.8), (43.1, 0.6), 24.2, 2e-10),
        ((88.4, 0.3), (89.1, 0.3), -2.5, 5e-3),
        ((88.1, 0.3), (88.7, 0.3), -1.8, 2.3e-2),
        ((87.8, 0.5), (82.7, 0.4), 11.5, 7e-8),
    ],
)
def test_effects_published_with_rounded_means(one, other, published_d, published_p):
    contrast = welch(SeedScores(*one, 5), SeedScores(*other, 5))
    assert contrast.d == pytest.approx(published_d, rel=0.13)
    assert abs(np.log10(contrast.p / published_p)) < 1
    assert contrast.band == ("very large" if abs(contrast.d) < 2 else "huge")


def test_effects_recomputed_from_rounded_means():
    d = [welch(SeedScores(*one, 5), SeedScores(*two, 5)).d for one, two in [((72.5, 0.3), (71.5, 0.4)),
         ((60.3, 0.8), (43.1, 0.6)), ((87.8, 0.5), (82.7, 0.4))]]  # fmt: skip
    assert [round(each, 2) for each in d] == [2.83, 24.32, 11.26]


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6), st.lists(st.floats(0, 1), min_size=2, max_size=6))
def test_welch_is_that_of_scipy(one, other):
    from scipy.stats import ttest_ind

    if np.ptp(one) < 1e-3 or np.ptp(other) < 1e-3:
        return
    contrast = welch(SeedScores.of(one), SeedScores.of(other))
    assert contrast.p == pytest.approx(ttest_ind(one, other, equal_var=False).pvalue)


def test_without_spread_there_is_no_effect_size():
    assert welch(SeedScores(0.5, 0.0, 3), SeedScores(0.4, 0.0, 3))[1:] == (None, None, "")
    assert welch(SeedScores(0.5, 0.1, 3), SeedScores(0.5, 0.1, 3)).band == "none"
    with pytest.raises(InputError, match="needs several"):
        SeedScores.of([0.5])
