"""Depth as a signal: means, correlations and budgets against plain computation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tiny_data import build
from unseen.evaluation.depth import BUDGETS, depth_measurements, threshold_for
from unseen.types import Dataset, ExitTrace, Measurement, Predictions

LAYERS, TEXTS = 6, 240


def answers_of(seed: int = 0) -> tuple[Dataset, Predictions, ExitTrace]:
    """Texts whose answers get better with depth, and a model that goes deeper where it is unsure."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(2, size=TEXTS)
    places = draw.permutation(TEXTS)
    names = ("a", "b")
    data = build([f"t{row}" for row in range(TEXTS)], ["x"] * TEXTS, [names[code] for code in labels], names)
    scores = np.sort(draw.random((TEXTS, LAYERS)), axis=1).astype(np.float32)
    right = draw.random((TEXTS, LAYERS)) < np.linspace(0.5, 0.95, LAYERS)
    answers = np.where(right, labels[:, None], 1 - labels[:, None]).astype(np.int16)
    trace = ExitTrace(data.ids.take(places), answers[places], scores[places], 0.6, names)
    depths = trace.depths()
    sure = 0.5 + 0.5 / (depths + draw.random(TEXTS))
    chosen = trace.at(depths)
    probabilities = np.where(np.arange(2) == chosen[:, None], sure[:, None], 1 - sure[:, None])
    return data, Predictions(trace.ids, probabilities, names, depths=depths), trace


def one(rows: list[Measurement], metric: str, name: str = "all", **tags: object) -> Measurement:
    (row,) = [
        row for row in rows
        if row.metric == metric and row.slice == name and all(row.tags.get(key) == value for key, value in tags.items())
    ]  # fmt: skip
    return row


def test_means_shares_and_correlations_are_those_of_plain_computation() -> None:
    data, predictions, trace = answers_of()
    order = np.argsort([int(name[1:]) for name in predictions.ids.to_pylist()])
    depths = np.asarray(predictions.depths)[order]
    chosen = predictions.probabilities[order]
    wrong = chosen.argmax(axis=1) != data.labels
    rows = depth_measurements(data, predictions, slices={"first": np.arange(50), "few": np.arange(3)}, trace=trace)
    assert one(rows, "depth.mean").value == pytest.approx(depths.mean())
    assert one(rows, "depth.mean", "right").value == pytest.approx(depths[~wrong].mean())
    assert one(rows, "depth.mean", "wrong").value == pytest.approx(depths[wrong].mean())
    assert one(rows, "depth.mean", "first").value == pytest.approx(depths[:50].mean())
    assert not [row for row in rows if row.slice == "few"]
    assert one(rows, "depth.error").value == pytest.approx(spearmanr(depths, wrong).statistic)
    assert one(rows, "depth.confidence").value == pytest.approx(spearmanr(depths, chosen.max(axis=1)).statistic)
    for layer in range(1, LAYERS + 1):
        assert one(rows, "depth.share", layer=layer).value == pytest.approx((depths == layer).mean())
    mean = one(rows, "depth.mean")
    assert mean.low is not None
    assert mean.high is not None
    error = depths.std() / TEXTS**0.5
    assert mean.high - mean.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_changed_answers_and_budgets_follow_the_trace() -> None:
    data, predictions, trace = answers_of(1)
    rows = depth_measurements(data, predictions, trace=trace)
    gold = data.labels[[int(name[1:]) for name in trace.ids.to_pylist()]]
    changed = (trace.at(trace.depths()) != trace.answers[:, -1]).mean()
    assert one(rows, "depth.changed").value == pytest.approx(changed)
    assert one(rows, "depth.accuracy", budget=1.0).value == pytest.approx((trace.answers[:, -1] == gold).mean())
    used = [one(rows, "depth.used", budget=budget).value or 0 for budget in BUDGETS]
    assert used[-1] == 1
    assert all(0.9 * budget < share <= budget for budget, share in zip(BUDGETS, used, strict=True))


@pytest.mark.parametrize("budget", [0.2, 0.4, 0.8])
def test_a_budget_is_the_highest_threshold_that_keeps_to_it(budget: float) -> None:
    _, _, trace = answers_of(2)
    levels = np.unique(trace.scores)
    kept = [float(level) for level in levels if trace.depths(float(level)).mean() <= budget * LAYERS]
    assert threshold_for(trace, budget) == max(kept)
    assert (trace.depths(threshold_for(trace, 0.01)) == 1).all()


def test_budgets_are_set_on_the_reference_and_labels_are_matched_by_name() -> None:
    data, predictions, trace = answers_of(3)
    some = trace.of(trace.ids[:60])
    rows = depth_measurements(data, predictions, trace=trace, reference=some)
    threshold = threshold_for(some, 0.5)
    assert one(rows, "depth.used", budget=0.5).value == pytest.approx(trace.depths(threshold).mean() / LAYERS)
    turned = ExitTrace(trace.ids, 1 - trace.answers, trace.scores, trace.threshold, ("b", "a"))
    again = depth_measurements(data, predictions, trace=turned, reference=some)
    assert one(again, "depth.accuracy", budget=0.5).value == one(rows, "depth.accuracy", budget=0.5).value


def test_groups_are_drawn_whole_and_predictions_without_depths_give_nothing() -> None:
    data, predictions, _ = answers_of(4)
    bare = Predictions(predictions.ids, predictions.probabilities, predictions.label_names)
    assert depth_measurements(data, bare) == []
    ids = data.ids.to_pylist()
    depth_by_id = dict(zip(predictions.ids.to_pylist(), np.asarray(predictions.depths).tolist(), strict=True))
    author = [f"author {depth_by_id[name]}" for name in ids]  # everybody's texts have one depth
    grouped = build(
        ids, ["x"] * TEXTS, [data.label_names[code] for code in data.labels], data.label_names, author=author
    )
    alone, together = (
        one(depth_measurements(grouped, predictions, groups=groups), "depth.mean") for groups in (None, "author")
    )
    assert (together.high or 0) - (together.low or 0) > 2 * ((alone.high or 0) - (alone.low or 0))


def test_a_constant_depth_has_no_correlation() -> None:
    data, predictions, _ = answers_of(5)
    same = Predictions(
        predictions.ids, predictions.probabilities, predictions.label_names, depths=np.full(TEXTS, 3, np.int16)
    )
    assert one(depth_measurements(data, same), "depth.error").value is None
