"""Influence of single texts against brute force: every text left out, or made right, and the score taken anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.influence import WAYS, influence
from unseen.evaluation.metrics import metric

NAMES = ("a", "b", "c", "none")
METRICS = [
    "accuracy", "f1.micro", "f1.macro", "precision.dodrans", "recall.weighted", "f1.entropy", "f1[b]",
    "f1.micro(exclude=none)", "f1.entropy(exclude=none)", "f1.entropy(exclude=none,total=included)",
    "f1.power(0.3,exclude=a)", "recall.mix(a=0.2,b=0.8)", "precision.mix(a=0.9,none=0.1)",
]  # fmt: skip


def brute_force(name, gold, predicted, row, way):
    if way == "removal":
        gold, predicted = np.delete(gold, row), np.delete(predicted, row)
    else:
        predicted = np.where(np.arange(len(gold)) == row, gold, predicted)
    value = metric(name)(gold, np.eye(4)[predicted], NAMES)
    return np.nan if value is None else value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", METRICS)
@given(st.integers(0, 10**6), st.integers(1, 25))
def test_influence_is_that_of_brute_force(name, way, seed, rows):
    draw = np.random.default_rng(seed)
    gold, predicted = draw.choice(4, size=(2, rows), p=[0.5, 0.2, 0.1, 0.2])
    result = influence(metric(name), gold, predicted, NAMES, way)
    before = metric(name)(gold, np.eye(4)[predicted], NAMES)
    for row in range(rows):
        if way == "correction" and gold[row] == predicted[row]:
            assert result.of_row[row] == -1
            continue
        cell = result.of_row[row]
        assert (result.gold[cell], result.predicted[cell]) == (gold[row], predicted[row])
        expected = brute_force(name, gold, predicted, row, way) - (np.nan if before is None else before)
        np.testing.assert_allclose(result.moves[cell], expected, atol=1e-12)
    assert result.texts.sum() == (rows if way == "removal" else (gold != predicted).sum())


def test_one_text_decides_a_class_of_its_own():
    gold = np.array([0] * 500 + [1] * 500 + [2])
    predicted = np.where(np.arange(1001) % 5 == 0, 1 - np.minimum(gold, 1), gold)
    predicted[-1] = 0
    macro, weighted = (
        influence(metric(f"f1.{name}"), gold, predicted, ("a", "b", "c"), "correction")
        for name in ("macro", "weighted")
    )
    assert macro.flagged_texts == 1
    cell = macro.strongest
    assert (macro.gold[cell], macro.predicted[cell]) == (2, 0)
    assert macro.moves[cell] == pytest.approx(1 / 3, abs=1e-3)
    assert weighted.flagged_texts == 0
    removed = influence(metric("f1.macro"), gold, predicted, ("a", "b", "c"), "removal")
    assert removed.moves[removed.of_row[-1]] > 0.2, "a class that is not there is not averaged"


def test_a_thousand_classes_are_exact_too():
    draw = np.random.default_rng(0)
    gold = draw.integers(1000, size=100_000)
    predicted = np.where(draw.random(100_000) < 0.6, gold, draw.integers(1000, size=100_000))
    names = tuple(f"c{code}" for code in range(1000))
    result = influence(metric("f1.entropy"), gold, predicted, names, "removal")
    assert result.texts.sum() == 100_000
    rows = draw.choice(100_000, 3, replace=False)
    before = metric("f1.entropy").of_counts
    for row in rows:
        kept = np.delete(np.arange(100_000), row)
        tallies = [
            np.array(
                [
                    np.bincount(g[g == p], minlength=1000),
                    np.bincount(p, minlength=1000),
                    np.bincount(g, minlength=1000),
                ],
                float,
            )
            for g, p in ((gold, predicted), (gold[kept], predicted[kept]))
        ]
        expected = before(tallies[1], names) - before(tallies[0], names)
        assert result.moves[result.of_row[row]] == pytest.approx(expected, abs=1e-12)


def test_what_has_no_influence_is_refused():
    gold = np.array([0, 1])
    with pytest.raises(InputError, match="not decided by labels alone"):
        influence(metric("log_loss"), gold, gold, ("a", "b"), "removal")
    with pytest.raises(UnknownNameError, match="did you mean 'removal'"):
        influence(metric("accuracy"), gold, gold, ("a", "b"), "removed")
    assert influence(metric("accuracy"), gold, gold, ("a", "b"), "correction").strongest is None
