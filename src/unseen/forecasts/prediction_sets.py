"""Sets of labels that hold the right one nine times in ten, where the target is like home.

A set holds every label whose probability is not lower than that of right labels at home usually is. `split` compares
with all texts of home, `label` with those of the same label (Mondrian), `weighted` counts texts of home as often as
they look like the target's. The promise holds for texts like home's, `label` for each label alike, `weighted` where
only the texts have changed: how often it is kept elsewhere is measured on the rungs of the ladder.
"""

from __future__ import annotations

import numpy as np

from unseen.errors import UnknownNameError
from unseen.forecasts.estimators import Answers, domain_weights
from unseen.types.arrays import Floats, Mask

COVERED = 0.9
KINDS = ("split", "label", "weighted")


def prediction_sets(home: Answers, target: Answers, kind: str = "split", covered: float = COVERED) -> Mask:
    """Which labels [texts, labels] the set of each text of the target holds."""
    strange = 1 - target.probabilities
    scores = 1 - home.probabilities[np.arange(len(home)), home.known]
    if kind == "split":
        return np.asarray(strange <= _limit(scores, covered))
    if kind == "label":
        labels = range(home.probabilities.shape[1])
        return np.asarray(strange <= [_limit(scores[home.known == label], covered) for label in labels])
    if kind == "weighted":
        return np.asarray(strange <= _weighted_limits(scores, *domain_weights(home, target), covered)[:, None])
    raise UnknownNameError.of("kind of prediction set", kind, KINDS)


def _limit(scores: Floats, covered: float) -> float:
    """The score that a further one exceeds with a probability of at most 1 − `covered`."""
    place = int(np.ceil((len(scores) + 1) * covered))
    return float(np.sort(scores)[place - 1]) if place <= len(scores) else np.inf


def _weighted_limits(scores: Floats, weights: Floats, own: Floats, covered: float) -> Floats:
    """The limit of each text of the target, which itself weighs `own` (Tibshirani et al. 2019)."""
    order = np.argsort(scores, kind="stable")
    share = np.cumsum(weights[order])
    places = np.searchsorted(share, covered * (share[-1] + own), side="left")
    return np.asarray(np.append(scores[order], np.inf)[places])
