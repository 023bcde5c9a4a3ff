"""Answers of a made-up model whose sureness is right, on made-up texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.forecasts.estimators import Answers


def made_answers(
    rows: int = 2_000, k: int = 2, skill: float = 2.0, seed: int = 0, mix: Sequence[float] | None = None
) -> Answers:
    """Labels drawn from a mix, and what the best model says that sees them through noise."""
    draw = np.random.default_rng(seed)
    share = np.full(k, 1 / k) if mix is None else np.asarray(mix)
    labels = draw.choice(k, size=rows, p=share)
    seen = skill * np.eye(k)[labels] + draw.normal(size=(rows, k))
    scores = skill * seen + np.log(share)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return Answers(powers / powers.sum(axis=1, keepdims=True), labels)
