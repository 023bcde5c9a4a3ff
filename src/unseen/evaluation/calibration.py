"""Whether probabilities mean what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer]
SMALLEST = np.finfo(np.float64).eps


def log_losses(gold: Codes, probabilities: Floats) -> Floats:
    """The negative logarithm of the probability of the right class of each row; rows are normalised first."""
    clipped = np.clip(probabilities, SMALLEST, 1.0)
    return -np.log(_of_gold(gold, clipped) / clipped.sum(axis=1))


def squared_distances(gold: Codes, probabilities: Floats) -> Floats:
    """The squared distance of each row's probabilities to the truth; with two classes, of the second one's."""
    if probabilities.shape[1] == 2:
        return np.square(probabilities[:, 1] - (gold == 1))
    return np.square(probabilities).sum(axis=1) - 2 * _of_gold(gold, probabilities) + 1


def calibration_errors(gold: Codes, probabilities: Floats, weights: Floats, bins: int = 15) -> Floats:
    """Mean gap between confidence and accuracy over `bins` equal intervals of confidence, weighted by rows.

    One for each weighting [draws, rows].
    """
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == gold
    bin_of = np.minimum(np.ceil(confidence * bins).astype(int) - 1, bins - 1)
    gaps = np.zeros((len(gold), bins))
    gaps[np.arange(len(gold)), bin_of] = right - confidence
    return np.abs(weights @ gaps).sum(axis=1) / weights.sum(axis=1)


def _of_gold(gold: Codes, probabilities: Floats) -> Floats:
    """The probability of the right class of each row."""
    return np.take_along_axis(probabilities, gold[:, None].astype(np.intp), axis=1)[:, 0]
