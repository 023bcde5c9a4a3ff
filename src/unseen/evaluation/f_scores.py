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
    """The score of each class; zero where it would divide by zero, as scikit-learn has it."""
    if score not in SCORES:
        raise UnknownNameError.of("score", score, SCORES)
    hits, predicted, gold = np.diag(matrix), matrix.sum(axis=0), matrix.sum(axis=1)
    if score == "f1":
        return _ratio(2 * hits, predicted + gold)
    return _ratio(hits, predicted if score == "precision" else gold)


def scheme_weights(counts: Floats, scheme: str, total: float | None = None) -> Floats:
    """Normalised weights of the classes; classes without rows have none.

    `total` is the N of the entropy scheme: all rows of the data, those of excluded classes too. The
    choice matters, so it is part of what must be reported; by default the sum of `counts`.
    """
    total = float(counts.sum()) if total is None else total
    present = counts > 0
    shares = np.where(present, counts, 1.0) / total
    raw = {
        "macro": present.astype(np.float64),
        "weighted": counts,
        "dodrans": counts**0.75,
        "entropy": -counts * np.log(shares),
    }
    if scheme not in raw:
        raise UnknownNameError.of("weighting scheme", scheme, raw)
    weights = np.where(present, raw[scheme], 0.0)
    return np.asarray(weights / weights.sum()) if weights.sum() else weights


def averaged(
    matrix: Floats, scheme: str, score: str = "f1", excluded: Sequence[int] = (), count_excluded: bool = True
) -> float | None:
    """One number for all classes but the `excluded` ones; None when no class has rows.

    With `micro`, true positives come from the included classes only; false positives are wrong
    predictions of an included class, also on rows of an excluded one.
    """
    included = np.setdiff1d(np.arange(len(matrix)), excluded)
    counts = matrix.sum(axis=1)[included]
    if not counts.sum():
        return None
    if scheme == "micro":
        hits, predicted = np.diag(matrix)[included].sum(), matrix.sum(axis=0)[included].sum()
        below = {"f1": predicted + counts.sum(), "precision": predicted, "recall": counts.sum()}[score]
        return float((2 if score == "f1" else 1) * hits / below) if below else 0.0
    total = float(matrix.sum()) if count_excluded else float(counts.sum())
    return float(scheme_weights(counts, scheme, total) @ class_scores(matrix, score)[included])


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
