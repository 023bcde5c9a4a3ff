"""From scores to probabilities, and what probabilities lose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def softmax(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Probabilities of each row of `scores`."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True)) if scores.size else scores
    return powers / powers.sum(axis=1, keepdims=True)


def log_loss(probabilities: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Weighted mean log loss, given the probability of the right label of each row."""
    return float(np.average(-np.log(np.maximum(probabilities, 1e-15)), weights=weights))
