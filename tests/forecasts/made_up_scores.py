"""A small table of scores that follow two features of the target and the amount of training data."""

from __future__ import annotations

import numpy as np

from unseen.forecasts.features import Features, with_features
from unseen.forecasts.score_table import ScoreTable

TARGETS = tuple("abcdefghijkl")
CONFIGURATIONS: tuple[dict[str, float], ...] = ({"a": 100.0}, {"b": 1000.0}, {"a": 50.0, "b": 500.0})


def made_up_features(seed: int = 0) -> Features:
    draw = np.random.default_rng(seed)
    return Features(
        {name: {"size": float(draw.uniform(6, 12))} for name in TARGETS},
        {(source, target): {"overlap": float(draw.uniform())} for source in TARGETS for target in TARGETS},
    )


def made_up_scores(seed: int = 0, task: str = "t") -> ScoreTable:
    """Every configuration on every target, with the features."""
    features = made_up_features(seed)
    rows = [(configuration, target) for configuration in CONFIGURATIONS for target in TARGETS]
    configurations, targets = zip(*rows, strict=True)
    table = ScoreTable(tuple(configurations), np.array(targets), np.zeros(len(rows)), np.full(len(rows), task))
    table = with_features(table, features)
    known = dict(zip(table.columns, table.features.T, strict=True))
    noise = np.random.default_rng(seed + 1).normal(0, 0.005, len(rows))
    scores = 0.03 * known["target.size"] + 0.2 * known["overlap[a]"] + 0.1 * known["size.all"] + noise
    return ScoreTable(table.configurations, table.targets, scores, table.tasks, table.columns, table.features)
