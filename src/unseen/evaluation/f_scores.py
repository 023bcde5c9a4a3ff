"""Precision, recall and F per class, and the ways to make one number of them.

The weighting schemes are those of Harbecke et al. (2022): `weighted`, `dodrans`, `entropy` and `macro`
average per-class scores with weights that depend on the class counts; `micro` pools the counts.

All of them are decided by three counts per class, its *tally*: rows of the class that were given it, rows that were
given it, rows of it. A tally is an array [..., 3, k] in this order. The confusion matrix would be k / 3 times as large.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.errors import UnknownNameError
from unseen.types.arrays import Codes, Floats

SCHEMES = ("micro", "macro", "weighted", "dodrans", "entropy")
SCORES = ("f1", "precision", "recall")
POWERS = {"macro": 0.0, "dodrans": 0.75, "weighted": 1.0}
"""Schemes whose weights are a power of the class counts."""


def tally(gold: Codes, predicted: Codes, k: int) -> Floats:
    """The tally [3, k] of rows."""
    places, _ = tally_places(gold, predicted, k)
    return np.bincount(places, minlength=3 * k).reshape(3, k).astype(np.float64)


def tally_places(gold: Codes, predicted: Codes, k: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where in a flat tally [3 · k] the rows add one, and which row it is."""
    right = np.flatnonzero(gold == predicted)
    places = np.concatenate([gold[right], np.add(predicted, k), np.add(gold, 2 * k)]).astype(np.int64)
    return places, np.concatenate([right, np.arange(len(predicted)), np.arange(len(gold))]).astype(np.int64)


def class_scores(tallies: Floats, score: str = "f1") -> Floats:
    """The score of each class [..., k]; zero where it would divide by zero, as scikit-learn has it."""
    if score not in SCORES:
        raise UnknownNameError.of("score", score, SCORES)
    hits, predicted, gold = (tallies[..., count, :] for count in range(3))
    if score == "f1":
        return _ratio(2 * hits, predicted + gold)
    return _ratio(hits, predicted if score == "precision" else gold)


def scheme_weights(counts: Floats, scheme: str | float, total: Floats | float | None = None) -> Floats:
    """Normalised weights of the classes [..., k]; classes without rows have none.

    `scheme` is a name, or the power of the counts. `total` is the N of the entropy scheme: all rows of the data, those
    of excluded classes too. The choice matters, so it is part of a metric's name; by default the sum of `counts`.
    """
    total = counts.sum(axis=-1) if total is None else total
    present = counts > 0
    power = POWERS.get(scheme) if isinstance(scheme, str) else scheme
    if power is not None:
        raw = counts**power
    elif scheme == "entropy":
        raw = -counts * np.log(np.where(present, counts, 1.0) / np.maximum(total, 1.0)[..., None])
    else:
        raise UnknownNameError.of("weighting scheme", str(scheme), SCHEMES[1:])
    weights = np.where(present, raw, 0.0)
    return _ratio(weights, np.broadcast_to(weights.sum(axis=-1, keepdims=True), weights.shape))


def pooled(tallies: Floats, score: str = "f1", excluded: Sequence[int] = ()) -> Floats:
    """The score of the counts of all classes but the `excluded` ones, for each tally [..., 3, k]; NaN without rows.

    True positives come from the included classes only; false positives are wrong predictions of an included class,
    also on rows of an excluded one.
    """
    included = np.setdiff1d(np.arange(tallies.shape[-1]), excluded)
    hits, predicted, rows = (tallies[..., count, included].sum(axis=-1) for count in range(3))
    below = {"f1": predicted + rows, "precision": predicted, "recall": rows}[score]
    return np.where(rows > 0, _ratio((2 if score == "f1" else 1) * hits, below), np.nan)


def _ratio(above: Floats, below: Floats) -> Floats:
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
