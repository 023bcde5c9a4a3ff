"""Whether probabilities mean what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer]
SMALLEST = np.finfo(np.float64).eps


def log_loss(gold: Codes, probabilities: Floats) -> float:
    """Mean negative logarithm of the probability of the right class; rows are normalised first."""
    clipped = np.clip(probabilities, SMALLEST, 1.0)
    right = np.take_along_axis(clipped / clipped.sum(axis=1, keepdims=True), gold[:, None].astype(np.intp), axis=1)
    return float(-np.log(right).mean())


def brier(gold: Codes, probabilities: Floats) -> float:
    """Mean squared distance of the probabilities to the truth; with two classes, of the second one's."""
    truth = np.eye(probabilities.shape[1])[gold]
    squares = np.square(probabilities - truth)
    return float(squares[:, 1].mean() if probabilities.shape[1] == 2 else squares.sum(axis=1).mean())


def expected_calibration_error(gold: Codes, probabilities: Floats, bins: int = 15) -> float:
    """Mean gap between confidence and accuracy over `bins` equal intervals of confidence, weighted by rows."""
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == gold
    bin_of = np.minimum(np.ceil(confidence * bins).astype(int) - 1, bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    gaps = np.abs(np.bincount(bin_of, weights=right - confidence, minlength=bins))
    return float(gaps.sum() / counts.sum())
