"""Models of scores: means on published data, and the solver against scikit-learn and its optimality conditions."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from made_up_scores import made_up_scores
from sklearn.linear_model import MultiTaskLasso

from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.forecasts.left_out import errors_by_target, left_out_predictions
from unseen.forecasts.score_models import FeatureRange, GroupLasso, group_lasso, score_model
from unseen.forecasts.score_table import joined, read_sumeval


@pytest.mark.parametrize(
    ("file", "overall", "same_configuration"),
    [
        ("XNLI_XLMR", 2.39, 2.39),
        ("TyDiQA_XLMR_ID", 10.07, 4.61),
        ("TyDiQA_XLMR_OOD", 10.24, 2.45),
        ("WikiANN_XLMR", 8.29, 8.30),
        ("UDPOS_XLMR", 7.45, 7.49),
    ],
)
def test_means_err_as_published(shared_data: Path, file: str, overall: float, same_configuration: float) -> None:
    table = read_sumeval(shared_data / "litmus" / "train" / f"{file}.json")
    for model, error in (("global-mean", overall), ("same-configuration-mean", same_configuration)):
        errors = errors_by_target(table, left_out_predictions(table, model))
        assert round(100 * float(np.mean([*errors.values()])), 2) == error


def test_a_mean_of_the_same_target_knows_nothing_of_a_new_one() -> None:
    table = made_up_scores()
    assert np.isnan(left_out_predictions(table, "same-target-mean")).all()
    rows = table.targets == "c"
    assert score_model("same-target-mean").fit(table).predict(table)[rows] == pytest.approx(table.scores[rows].mean())


def test_group_lasso_is_that_of_scikit_learn_where_tasks_share_a_design() -> None:
    draw = np.random.default_rng(0)
    design = draw.normal(size=(40, 12))
    weights = np.where(draw.uniform(size=(12, 1)) < 0.4, draw.normal(size=(12, 3)), 0.0)
    scores = design @ weights + 0.1 * draw.normal(size=(40, 3)) + [1.0, 2.0, 3.0]
    for alpha in (0.005, 0.3, 10.0):
        ours = group_lasso([design] * 3, list(scores.T), alpha, tolerance=1e-10)
        theirs = MultiTaskLasso(alpha=alpha, tol=1e-12, max_iter=100_000).fit(design, scores).coef_.T
        assert ours == pytest.approx(theirs, abs=1e-6)


def test_group_lasso_is_optimal_where_tasks_have_other_rows() -> None:
    draw, alpha = np.random.default_rng(1), 0.6
    designs = [draw.normal(size=(rows, 8)) * draw.uniform(0.2, 3, 8) for rows in (9, 25, 60)]
    scores = [design[:, 0] - design[:, 3] + draw.normal(size=len(design)) for design in designs]
    weights = group_lasso(designs, scores, alpha, tolerance=1e-12)
    slopes = np.column_stack([  # of the squared errors, [features, tasks]
        (design - design.mean(axis=0)).T @ (own - own.mean() - (design - design.mean(axis=0)) @ column) / len(own)
        for design, own, column in zip(designs, scores, weights.T, strict=True)
    ])  # fmt: skip
    lengths = np.linalg.norm(weights, axis=1)
    used = lengths > 0
    assert 0 < used.sum() < 8
    assert slopes[used] == pytest.approx(alpha * weights[used] / lengths[used, None], abs=1e-6)
    assert (np.linalg.norm(slopes[~used], axis=1) <= alpha + 1e-8).all()


def test_each_task_has_its_own_intercept() -> None:
    low, high = made_up_scores(0, "low"), made_up_scores(0, "high")
    high.scores[:] += 5
    model = GroupLasso().fit(joined([low, high]))
    assert model.predict(high) == pytest.approx(model.predict(low) + 5, abs=1e-6)
    assert np.isnan(model.predict(low.with_task("other"))).all()


def test_features_are_scaled_to_the_range_of_the_training_rows_alone() -> None:
    table = made_up_scores()
    scale = FeatureRange(table.take(table.targets != "c"))
    for rows in (table, table.take(table.targets == "c")):
        scaled = scale.scaled(rows)
        assert scaled.min() >= 0
        assert scaled.max() <= 1
    outside = table.with_features([], np.empty((len(table), 0)))
    outside.features[:] = table.features * 100
    assert scale.scaled(outside).max() == 1.0


@pytest.mark.parametrize("model", ["xgboost", "group-lasso"])
def test_a_model_of_features_beats_the_means_where_features_decide(model: str) -> None:
    pytest.importorskip("xgboost")
    table = made_up_scores()
    errors = [
        np.mean([*errors_by_target(table, left_out_predictions(table, name)).values()])
        for name in (model, "same-configuration-mean", "global-mean")
    ]
    assert all(own < mean for own, mean in pairwise(errors[:2]))


def test_what_cannot_be_had_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made_up_scores()
    with pytest.raises(UnknownNameError, match="did you mean 'xgboost'"):
        score_model("xgbost")
    bare = table.take(table.known)
    bare = type(bare)(bare.configurations, bare.targets, bare.scores, bare.tasks)
    with pytest.raises(InputError, match="needs features"):
        score_model("group-lasso").fit(bare)
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(MissingPackageError) as caught:
        score_model("xgboost").fit(table)
    assert caught.value.fix == "pip install 'unseen[forecast]'"
