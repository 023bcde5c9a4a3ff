"""What a removal costs, against simulated models whose scores differ with the rows that are left out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from unseen.audits.price import can_be_sure, cost_of_removal
from unseen.errors import InputError
from unseen.evaluation.falls import Run
from unseen.runs.experiment import Contrast

N = 1000


def run_of(gold: np.ndarray, skill: float, draw: np.random.Generator, sample: str = "s") -> Run:
    """A model that is right with this probability, whatever the row."""
    said = np.where(draw.random(len(gold)) < skill, gold, 1 - gold)
    return Run("s", "f", 1, gold, np.eye(2)[said], ("no", "yes"), sample=sample)


def runs(seed: int, removals: int, price: float = 0.0, spread: float = 0.04) -> tuple[list[Run], list[Run]]:
    """Every removal gives a skill of its own; the certain rows cost `price` more."""
    draw = np.random.default_rng(seed)
    gold = draw.integers(2, size=N)
    random = [run_of(gold, 0.75 + draw.normal(0, spread), draw) for _ in range(removals)]
    return random, [run_of(gold, 0.75 - price + draw.normal(0, spread), draw)]


@pytest.mark.parametrize("removals", [5, 20])
def test_rows_that_are_as_good_as_random_ones_have_no_price(removals: int) -> None:
    found = [cost_of_removal(*runs(seed, removals), "accuracy", draws=200, seed=seed) for seed in range(200)]
    holding = np.mean([row.low <= 0 <= row.high for row in found])  # type: ignore[operator]
    assert 0.91 <= holding <= 0.99
    rare = np.mean([row.tags["p"] <= 0.05 for row in found])
    assert rare <= 0.09


def test_a_true_price_is_found() -> None:
    found = [cost_of_removal(*runs(seed, 20, price=0.2), "accuracy", draws=200, seed=seed) for seed in range(30)]
    assert np.mean([row.low > 0 for row in found]) > 0.9  # type: ignore[operator]
    assert np.mean([row.tags["p"] == 1 / 21 for row in found]) > 0.9
    assert np.mean([row.value for row in found]) == pytest.approx(0.2, abs=0.02)  # type: ignore[arg-type]


def test_value_and_p_are_those_of_the_scores() -> None:
    random, without = runs(3, 7)
    row = cost_of_removal(random, without, "accuracy", tags={"a": "b"})
    scores = [accuracy_score(each.gold, each.probabilities.argmax(axis=1)) for each in (*random, *without)]
    middle = np.mean(scores[:-1])
    assert row.value == pytest.approx(middle - scores[-1])
    as_far = sum(abs(each - middle) >= abs(scores[-1] - middle) for each in scores[:-1])
    assert row.tags == {"a": "b", "removals": 7, "p": (1 + as_far) / 8}
    assert row.metric == "fall.accuracy"
    (turned,) = Contrast(random, without, {"a": "b"}, sign="difference", removals=True).measured("accuracy")
    assert (turned.value, turned.low, turned.high) == (-row.value, -row.high, -row.low)  # type: ignore[operator]
    assert (turned.metric, turned.tags) == ("difference.accuracy", row.tags)


def test_less_is_better_turns_the_sign() -> None:
    random, without = runs(3, 7, price=0.2)
    assert cost_of_removal(random, without, "log_loss").value > 0  # type: ignore[operator]


def test_one_random_removal_shows_no_spread() -> None:
    row = cost_of_removal(*runs(1, 1), "accuracy")
    assert row.value is not None
    assert row.low is row.high is None
    assert [can_be_sure(each) for each in (1, 19, 20)] == [False, False, True]


def test_runs_on_other_rows_are_refused() -> None:
    random, without = runs(1, 3)
    other = run_of(without[0].gold, 0.7, np.random.default_rng(0), sample="t")
    with pytest.raises(InputError, match="different rows"):
        cost_of_removal(random, [other], "accuracy")
    with pytest.raises(InputError, match="no runs"):
        cost_of_removal([], without, "accuracy")
