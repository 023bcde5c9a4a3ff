"""Precision, recall and F per class, and the ways to make one number of them.

The weighting schemes are those of Harbecke et al. (2022): `weighted`, `dodrans`, `entropy` and `macro`
average per-class scores with weights that depend on the class counts; `micro` pools the counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.errors import UnknownNameError

Floats = npt.NDArray[np.float64]
SCHEMES = ("micro", "macro", "weighted", "dodrans", "entropy")
SCORES = ("f1", "precision", "recall")


def confusion(gold: npt.NDArray[np.integer], said: npt.NDArray[np.integer], k: int) -> Floats:
    """Counts [gold, predicted]."""
    return np.bincount(gold.astype(np.int64) * k + said, minlength=k * k).reshape(k, k).astype(np.float64)


def class_scores(matrix: Floats, score: str = "f1") -> Floats:
    """The score of each class [..., k]; zero where it would divide by zero, as scikit-learn has it."""
    if score not in SCORES:
        raise UnknownNameError.of("score", score, SCORES)
    hits, predicted, gold = _diagonal(matrix), matrix.sum(axis=-2), matrix.sum(axis=-1)
    if score == "f1":
        return _ratio(2 * hits, predicted + gold)
    return _ratio(hits, predicted if score == "precision" else gold)


def scheme_weights(counts: Floats, scheme: str, total: Floats | float | None = None) -> Floats:
    """Normalised weights of the classes [..., k]; classes without rows have none.

    `total` is the N of the entropy scheme: all rows of the data, those of excluded classes too. The
    choice matters, so it is part of what must be reported; by default the sum of `counts`.
    """
    total = counts.sum(axis=-1) if total is None else total
    present = counts > 0
    if scheme == "macro":
        raw = present.astype(np.float64)
    elif scheme == "weighted":
        raw = counts
    elif scheme == "dodrans":
        raw = counts**0.75
    elif scheme == "entropy":
        raw = -counts * np.log(np.where(present, counts, 1.0) / np.maximum(total, 1.0)[..., None])
    else:
        raise UnknownNameError.of("weighting scheme", scheme, SCHEMES[1:])
    weights = np.where(present, raw, 0.0)
    return _ratio(weights, np.broadcast_to(weights.sum(axis=-1, keepdims=True), weights.shape))


def averages(
    matrices: Floats, scheme: str, score: str = "f1", excluded: Sequence[int] = (), count_excluded: bool = True
) -> Floats:
    """One number for all classes but the `excluded` ones, for each matrix [..., k, k]; NaN when no class has rows.

    With `micro`, true positives come from the included classes only; false positives are wrong
    predictions of an included class, also on rows of an excluded one.
    """
    included = np.setdiff1d(np.arange(matrices.shape[-1]), excluded)
    counts = matrices.sum(axis=-1)[..., included]
    rows = counts.sum(axis=-1)
    if scheme == "micro":
        hits, predicted = _diagonal(matrices)[..., included].sum(-1), matrices.sum(axis=-2)[..., included].sum(-1)
        below = {"f1": predicted + rows, "precision": predicted, "recall": rows}[score]
        found = _ratio((2 if score == "f1" else 1) * hits, below)
    else:
        total = matrices.sum(axis=(-2, -1)) if count_excluded else rows
        found = (scheme_weights(counts, scheme, total) * class_scores(matrices, score)[..., included]).sum(axis=-1)
    return np.where(rows > 0, found, np.nan)


def averaged(
    matrix: Floats, scheme: str, score: str = "f1", excluded: Sequence[int] = (), count_excluded: bool = True
) -> float | None:
    """`averages` of one matrix; None when no class has rows."""
    found = float(averages(matrix, scheme, score, excluded, count_excluded))
    return None if np.isnan(found) else found


def _diagonal(matrices: Floats) -> Floats:
    return np.diagonal(matrices, axis1=-2, axis2=-1)


def _ratio(above: Floats, below: Floats) -> Floats:
    above, below = np.asarray(above, np.float64), np.asarray(below, np.float64)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)
