"""Models that predict scores: means of scores, boosted trees, and a linear model of several tasks.

A model has `fit(table)` and `predict(table)`, which gives NaN where the model cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.forecasts.score_table import Floats, Names, ScoreTable


class ScoreModel(Protocol):
    """What predicts scores."""

    def fit(self, table: ScoreTable) -> ScoreModel:
        """Learn from rows whose scores are known."""
        ...

    def predict(self, table: ScoreTable) -> Floats:
        """A score for each row; NaN where the model cannot tell."""
        ...


@dataclass
class GlobalMean:
    """The mean score of the task, whatever was trained on and tested."""

    def fit(self, table: ScoreTable) -> GlobalMean:
        """Take the mean of each task."""
        self._means = _means(table.scores, table.tasks)
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """The mean of the row's task."""
        return _looked_up(self._means, table.tasks)


@dataclass
class SameConfigurationMean:
    """The mean score of the same training configuration on other targets."""

    def fit(self, table: ScoreTable) -> SameConfigurationMean:
        """Take the mean of each configuration."""
        self._means = _means(table.scores, table.tasks, table.names)
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """The mean of the row's configuration; NaN for a new one."""
        return _looked_up(self._means, table.tasks, table.names)


@dataclass
class SameTargetMean:
    """The mean score of other configurations on the same target: nothing that is known of a new target."""

    def fit(self, table: ScoreTable) -> SameTargetMean:
        """Take the mean of each target."""
        self._means = _means(table.scores, table.tasks, table.targets)
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """The mean of the row's target; NaN for a new one."""
        return _looked_up(self._means, table.tasks, table.targets)


def _means(scores: Floats, *keys: Names) -> dict[tuple[str, ...], float]:
    groups: dict[tuple[str, ...], list[float]] = {}
    for score, *key in zip(scores.tolist(), *(names.tolist() for names in keys), strict=True):
        groups.setdefault(tuple(key), []).append(score)
    return {key: float(np.mean(own)) for key, own in groups.items()}


def _looked_up(means: Mapping[tuple[str, ...], float], *keys: Names) -> Floats:
    rows = zip(*(names.tolist() for names in keys), strict=True)
    return np.array([means.get(key, np.nan) for key in rows], dtype=np.float64)


@dataclass
class XGBoost:
    """Boosted trees with the settings of Ahuja et al. (2022), for each task; they cannot leave the range of scores."""

    trees: int = 100
    depth: int = 10
    rate: float = 0.1

    def fit(self, table: ScoreTable) -> XGBoost:
        """Grow the trees of each task."""
        try:
            from xgboost import XGBRegressor
        except ImportError as cause:
            raise MissingPackageError.of("xgboost", "the model xgboost", "forecast") from cause
        _refuse_featureless(table, "xgboost")
        settings: dict[str, Any] = {"n_estimators": self.trees, "max_depth": self.depth, "learning_rate": self.rate}
        self._fitted = {
            task: XGBRegressor(**settings, tree_method="hist", n_jobs=1).fit(table.features[rows], table.scores[rows])
            for task in np.unique(table.tasks).tolist()
            for rows in [table.tasks == task]
        }
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """What the trees of the row's task say."""
        scores = np.full(len(table), np.nan)
        for task, trees in self._fitted.items():
            rows = table.tasks == task
            if rows.any():
                scores[rows] = trees.predict(table.features[rows])
        return scores


@dataclass
class GroupLasso:
    """Linear weights for each task, where a feature counts for all tasks or for none (Ahuja et al. 2022).

    Minimises the sum over tasks k of |y_k - X_k w_k - b_k|² / (2 n_k) plus alpha times the sum over features of the
    length of their weights in all tasks. Tasks may have different rows.
    """

    alpha: float = 0.005

    def fit(self, table: ScoreTable) -> GroupLasso:
        """Scale features to their range in these rows, and solve."""
        _refuse_featureless(table, "group-lasso")
        self._range = FeatureRange(table)
        self._tasks = np.unique(table.tasks).tolist()
        features = self._range.scaled(table)
        designs = [features[table.tasks == task] for task in self._tasks]
        scores = [table.scores[table.tasks == task] for task in self._tasks]
        self.weights = group_lasso(designs, scores, self.alpha)
        self.intercepts = [
            float(own.mean() - design.mean(axis=0) @ weights)
            for design, own, weights in zip(designs, scores, self.weights.T, strict=True)
        ]
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """The linear prediction of the row's task, from features that are kept within their range."""
        features, scores = self._range.scaled(table), np.full(len(table), np.nan)
        for task, weights, intercept in zip(self._tasks, self.weights.T, self.intercepts, strict=True):
            rows = table.tasks == task
            scores[rows] = features[rows] @ weights + intercept
        return scores


class FeatureRange:
    """The range of each feature in some rows; columns of one feature, `overlap[en]` and `overlap[de]`, share theirs."""

    def __init__(self, table: ScoreTable) -> None:
        group = np.array([name.partition("[")[0] for name in table.columns])
        low, high = table.features.min(axis=0), table.features.max(axis=0)
        self._low = np.array([low[group == name].min() for name in group])
        width = np.array([high[group == name].max() for name in group]) - self._low
        self._width = np.where(width > 0, width, 1.0)

    def scaled(self, table: ScoreTable) -> Floats:
        """Features from 0 to 1; what lies outside the range is moved to its edge."""
        return np.clip((table.features - self._low) / self._width, 0.0, 1.0)


def group_lasso(
    designs: Sequence[Floats], scores: Sequence[Floats], alpha: float, tolerance: float = 1e-7, most: int = 20_000
) -> Floats:
    """Weights [features, tasks] by accelerated proximal gradient descent; designs [rows of the task, features].

    Ends when no weight moves by more than `tolerance`. Intercepts are left out by centring each task.
    """
    centred = [design - design.mean(axis=0) for design in designs]
    squares = np.stack([design.T @ design / len(design) for design in centred])  # [tasks, features, features]
    slopes = np.stack([design.T @ (own - own.mean()) / len(own) for design, own in zip(centred, scores, strict=True)])
    step = 1.0 / max(1e-12, max(float(np.linalg.eigvalsh(square)[-1]) for square in squares))
    weights = ahead = np.zeros_like(slopes)  # [tasks, features]
    momentum = 1.0
    for _ in range(most):
        moved = ahead - step * (np.einsum("kij,kj->ki", squares, ahead) - slopes)
        lengths = np.linalg.norm(moved, axis=0)
        shrunk = moved * np.maximum(0.0, 1.0 - step * alpha / np.maximum(lengths, 1e-300))
        change = shrunk - weights
        if np.vdot(ahead - shrunk, change) > 0:  # momentum leads uphill: start it anew
            momentum = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = shrunk + (momentum - 1.0) / following * change
        weights, momentum = shrunk, following
        if np.abs(change).max() <= tolerance:
            break
    return weights.T


MODELS: dict[str, Callable[[], ScoreModel]] = {
    "xgboost": XGBoost,
    "group-lasso": GroupLasso,
    "same-configuration-mean": SameConfigurationMean,
    "same-target-mean": SameTargetMean,
    "global-mean": GlobalMean,
}
BASELINES = ("same-configuration-mean", "global-mean")
"""What a model has to beat on targets that are left out; of these, nothing is known of the same target."""


def score_model(name: str) -> ScoreModel:
    """The model of this name."""
    if name not in MODELS:
        raise UnknownNameError.of("model of scores", name, MODELS)
    return MODELS[name]()


def _refuse_featureless(table: ScoreTable, model: str) -> None:
    if not table.columns:
        raise InputError(
            f"{model} needs features, and the scores have none",
            fix="columns of numbers beside the scores, --features FILE, or --model same-configuration-mean",
        )
