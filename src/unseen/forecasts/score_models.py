"""Models that predict scores: means of scores, boosted trees, and a linear model of several tasks.

A model has `fit(table)` and `predict(table)`, which gives NaN where the model cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from unseen.errors import InputError, MissingPackageError, UnknownNameError
from unseen.forecasts.score_table import Floats, ScoreTable


class ScoreModel(Protocol):
    """What predicts scores."""

    def fit(self, table: ScoreTable) -> ScoreModel:
        """Learn from rows whose scores are known."""
        ...

    def predict(self, table: ScoreTable) -> Floats:
        """A score for each row; NaN where the model cannot tell."""
        ...


@dataclass
class MeanScore:
    """The mean score of rows of the same task that share these fields, `names` (of configurations) or `targets`."""

    of: tuple[str, ...] = ()

    def fit(self, table: ScoreTable) -> MeanScore:
        """Take the mean of each group of rows."""
        groups: dict[tuple[str, ...], list[float]] = {}
        for key, score in zip(self._keys(table), table.scores.tolist(), strict=True):
            groups.setdefault(key, []).append(score)
        self._means = {key: float(np.mean(scores)) for key, scores in groups.items()}
        return self

    def predict(self, table: ScoreTable) -> Floats:
        """The mean of the row's group; NaN where no row of it was seen."""
        return np.array([self._means.get(key, np.nan) for key in self._keys(table)], dtype=np.float64)

    def _keys(self, table: ScoreTable) -> list[tuple[str, ...]]:
        return list(zip(*(getattr(table, name).tolist() for name in ("tasks", *self.of)), strict=True))


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
    "same-configuration-mean": lambda: MeanScore(("names",)),
    "same-target-mean": lambda: MeanScore(("targets",)),
    "global-mean": MeanScore,
}
BASELINES = ("same-configuration-mean", "global-mean")
"""What a model has to beat on targets that are left out; of those a same-target mean knows nothing."""


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
