"""Validation by leaving targets out: nothing of a target is known, intervals hold, and far targets are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_scores import made_up_scores

from unseen.errors import UnknownNameError
from unseen.forecasts.left_out import LEAVE_OUT, Reach, coverage, folds, half_width, left_out_predictions
from unseen.forecasts.score_table import ScoreTable

NAMES = st.sampled_from("abcd")
ROWS = st.lists(st.tuples(st.sets(NAMES, min_size=1), NAMES, st.floats(0, 1)), min_size=1, max_size=30)


@given(ROWS, st.sampled_from(LEAVE_OUT))
def test_no_row_of_a_target_is_in_training_when_it_is_left_out(
    rows: list[tuple[set[str], str, float]], leave_out: str
) -> None:
    configurations, targets, scores = zip(*rows, strict=True)
    table = ScoreTable(
        tuple(dict.fromkeys(sources, 1.0) for sources in configurations),
        np.array(targets), np.array(scores), np.full(len(rows), "t"),
    )  # fmt: skip
    for target, train, held_out in folds(table, leave_out):
        assert target not in table.targets[train]
        assert set(table.targets[held_out]) == {target}
        if leave_out == "language":
            assert not any(target in table.configurations[row] for row in np.flatnonzero(train | held_out))
        else:
            assert (train | held_out).all()


def test_scores_of_a_target_do_not_reach_its_own_forecast() -> None:
    table = made_up_scores()
    before = left_out_predictions(table, "group-lasso")
    rows = table.targets == "c"
    table.scores[rows] = 100.0
    assert left_out_predictions(table, "group-lasso")[rows].tolist() == before[rows].tolist()


def test_a_way_to_leave_out_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'target'"):
        list(folds(made_up_scores(), "targets"))


def test_widths_come_from_other_targets_and_each_counts_alike() -> None:
    targets = np.array(["a"] * 100 + [*"bcdefghij"])
    errors = np.array([0.0] * 100 + [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    assert half_width(errors, targets, "new", level=0.5) == 5.0, "the fifth and more of eleven"
    assert half_width(errors, targets, "new", level=0.9) == 9.0
    assert half_width(errors, targets, "j", level=0.9) == 8.0
    assert half_width(errors, targets, "new", level=0.95) == np.inf


def test_intervals_hold_scores_of_new_targets_as_often_as_they_say() -> None:
    draw, held = np.random.default_rng(0), []
    for _ in range(400):
        targets = np.repeat(np.arange(20).astype(str), 5)
        errors = np.abs(np.repeat(draw.normal(size=20), 5) + 0.3 * draw.normal(size=100))
        held.append((errors[targets == "0"] <= half_width(errors, targets, "0", level=0.8)).mean())
    assert 0.78 <= np.mean(held) <= 0.86
    assert coverage(made_up_scores(), left_out_predictions(made_up_scores(), "global-mean")) > 0.8


def test_a_far_target_and_an_amount_that_was_never_seen_are_refused() -> None:
    table = made_up_scores()
    reach = Reach(table)
    assert reach.refusals(table) == [None] * len(table)
    far = ScoreTable(
        ({"a": 100.0}, {"a": 1e9}), np.array(["y", "z"]), np.full(2, np.nan), np.array(["t", "t"]), table.columns,
        table.features[:2] * [[50.0], [1.0]],
    )  # fmt: skip
    distant, large = reach.refusals(far)
    assert "from any target that was seen" in str(distant)
    assert "more than the 1,000" in str(large)
