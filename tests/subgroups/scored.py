"""Rows with labels, groups and scores drawn at random: with ties, rows in several groups, and an empty group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tiny_data import build
from unseen.subgroups import Groups
from unseen.types import Dataset, Predictions

LABELS = ("calm", "rude", "vile")
POSITIVE = ["rude", "vile"]


class Scored(NamedTuple):
    data: Dataset
    predictions: Predictions
    groups: Groups
    rows: np.ndarray
    positive: np.ndarray
    """Of each row of the data."""
    scores: np.ndarray


def scored(seed: int = 0, n: int = 120, levels: int = 9, k: int = 4, authors: int = 20) -> Scored:
    draw = np.random.default_rng(seed)
    codes = draw.integers(3, size=n)
    data = build(
        ids=[f"r{i}" for i in range(n)],
        labels=[LABELS[code] for code in codes],
        label_names=LABELS,
        author=[f"u{each}" for each in draw.integers(authors, size=n)],
    )
    score = np.clip(draw.integers(levels, size=n) + 2 * (codes > 0), 0, levels + 1) / (levels + 2)
    probabilities = np.column_stack([1 - score, score * 0.25, score * 0.75])
    members = draw.random((n, k)) < 0.3
    members[:, -1] = False
    groups = Groups("crew", tuple(f"g{i}" for i in range(k)), members)
    order = draw.permutation(n)
    said = Predictions(data.ids.take(order), probabilities[order], LABELS)
    return Scored(
        data, said, groups, np.sort(draw.permutation(n)[: n - 10]), codes > 0, probabilities[:, 1:].sum(axis=1)
    )
