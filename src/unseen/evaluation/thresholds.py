"""A label that is given from a certain probability on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from unseen.errors import InputError, UnknownNameError
from unseen.types import Predictions


def at_threshold(predictions: Predictions, label: str, threshold: float) -> Predictions:
    """Predictions of two labels in which `label` is the likelier one exactly where it had at least `threshold`.

    Probabilities are stretched so that the threshold comes to lie at one half: their order stays, their
    calibration does not.
    """
    names = predictions.label_names
    check_threshold(names, {label: threshold})
    column = names.index(label)
    p = predictions.probabilities[:, column]
    reached = p >= threshold
    stretched = np.where(reached, 0.5 + 0.5 * (p - threshold) / (1 - threshold), 0.5 * p / threshold)
    # at the threshold itself and a rounding below it, one half would be a tie
    stretched = np.where(
        reached, np.maximum(stretched, np.nextafter(0.5, 1)), np.minimum(stretched, np.nextafter(0.5, 0))
    )
    probabilities = np.empty_like(predictions.probabilities)
    probabilities[:, column], probabilities[:, 1 - column] = stretched, 1 - stretched
    params = dict(predictions.origin.params) | {"threshold": {label: threshold}}
    return Predictions(
        predictions.ids, probabilities, names, replace(predictions.origin, params=params), predictions.depths
    )


def check_threshold(label_names: Sequence[str], thresholds: Mapping[str, float]) -> None:
    """Refuse a threshold for a label that is not there, for more than two labels, or beyond probabilities."""
    if len(thresholds) != 1:
        raise InputError("a model has one threshold", got=str(dict(thresholds)))
    ((label, threshold),) = thresholds.items()
    if label not in label_names:
        raise UnknownNameError.of("label", label, label_names)
    if len(label_names) != 2:
        raise InputError("a threshold is for two labels", got=f"{len(label_names)} labels", fix="map them to two")
    if not 0 < threshold < 1:
        raise InputError("a threshold is between 0 and 1", got=repr(threshold))
