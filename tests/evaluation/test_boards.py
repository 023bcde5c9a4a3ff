"""Boards: levels, paired differences, ranks, gains and disagreements of several models on several datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from unseen.errors import InputError
from unseen.evaluation.boards import Board, board_measurements, outcome
from unseen.evaluation.falls import Run, fall, level
from unseen.types import Measurement

LABELS = ("no", "yes")
ACCURACY = {"strong": 0.85, "middle": 0.7, "weak": 0.7}


def runs(data: str, model: str, accuracy: float, seeds: int = 5, rows: int = 400) -> list[Run]:
    gold = np.arange(rows) % 2
    made = []
    for seed in range(seeds):
        draw = np.random.default_rng([seed, *map(ord, data + model)])
        answer = np.where(draw.random(rows) < accuracy, gold, 1 - gold)
        made.append(Run(data, model, seed, gold, np.eye(2)[answer] * 0.8 + 0.1, LABELS, None, data))
    return made


@pytest.fixture(scope="module")
def board() -> Board:
    cells = {data: {model: runs(data, model, ACCURACY[model]) for model in ACCURACY} for data in ("a", "b", "c")}
    return Board(cells, {"a": "first", "b": "first"}, {"view": "ordinary"})


@pytest.fixture(scope="module")
def rows(board: Board) -> list[Measurement]:
    return board_measurements(board, ["accuracy", "f1.macro"], "weak")


def one(rows: Sequence[Measurement], metric: str, **tags: Any) -> Measurement:
    (row,) = [
        row for row in rows
        if row.metric == metric and all(row.tags.get(tag) == value for tag, value in tags.items())
    ]  # fmt: skip
    return row


def test_levels_and_differences_are_those_of_the_runs_alone(board: Board, rows: list[Measurement]) -> None:
    (expected, _) = level(board.runs["a"]["strong"], "accuracy")
    made = one(rows, "accuracy", data="a", model="strong")
    assert made.value == expected.value
    assert made.tags["view"] == "ordinary"
    assert made.low == pytest.approx(expected.low, abs=0.01)
    pair = fall(board.runs["a"]["middle"], board.runs["a"]["strong"], "accuracy")
    assert one(rows, "difference.accuracy", data="a", model="strong", than="middle").value == -(pair.value or 0)


def test_a_win_is_more_than_chance_and_alike_models_tie(rows: list[Measurement]) -> None:
    for data in "abc":
        won = one(rows, "difference.accuracy", data=data, model="strong", than="weak")
        assert outcome(won) == "win"
        assert float(won.tags["p"]) <= float(won.tags["p.holm"]) < 0.01
        assert (won.low or 0) > 0
        assert outcome(one(rows, "difference.accuracy", data=data, model="middle", than="weak")) == "tie"
    assert outcome(None) == "tie"


def test_ranks_families_and_gains(rows: list[Measurement]) -> None:
    assert [one(rows, "rank.accuracy", data=data, model="strong").value for data in "abc"] == [1.0] * 3
    assert one(rows, "average_rank.accuracy", model="strong").value == 1.0
    assert one(rows, "critical_difference.accuracy").n == 3
    mean = np.mean([one(rows, "accuracy", data=data, model="weak").value for data in "ab"])
    assert one(rows, "accuracy", family="first", model="weak").value == pytest.approx(mean)
    before, after = (one(rows, "accuracy", data="a", model=model).value or 0 for model in ("weak", "strong"))
    reduction = one(rows, "gain.error_reduction.accuracy", data="a", model="strong")
    assert reduction.value == pytest.approx((after - before) / (1 - before))
    difference = one(rows, "difference.accuracy", data="a", model="strong", than="weak")
    assert reduction.low == pytest.approx((difference.low or 0) / (1 - before))


def test_two_metrics_may_prefer_different_models_for_certain() -> None:
    gold = np.repeat([0, 1], [900, 100])
    always, balanced = np.zeros(1000, int), np.where(np.arange(1000) % 5 == 0, 1 - gold, gold)
    cells = {
        "skewed": {
            name: [Run("skewed", name, 0, gold, np.eye(2)[answer], LABELS, None, "skewed")]
            for name, answer in (("always no", always), ("balanced", balanced))
        }
    }
    rows = board_measurements(Board(cells), ["accuracy", "f1.macro"])
    flip = one(rows, "rank_flips", data="skewed")
    assert (flip.value, flip.tags["pairs"], flip.tags["certain"]) == (1, "always no > balanced", "always no > balanced")
    assert one(rows, "kendall_tau").value == -1.0


def test_models_of_a_dataset_are_tested_on_the_same_rows() -> None:
    other = [Run("a", "other", 0, np.arange(4) % 2, np.eye(2)[[0, 1, 0, 1]], LABELS, None, "elsewhere")]
    with pytest.raises(InputError, match="different rows"):
        Board({"a": {"strong": runs("a", "strong", 0.8), "other": other}})


def test_a_dataset_that_a_model_lacks_is_not_ranked() -> None:
    cells = {"a": {"x": runs("a", "x", 0.8), "y": runs("a", "y", 0.6)}, "b": {"x": runs("b", "x", 0.8)}}
    rows = board_measurements(Board(cells), ["accuracy"])
    assert one(rows, "average_rank.accuracy", model="x").n == 1
    assert one(rows, "accuracy", data="b", model="x").value is not None
