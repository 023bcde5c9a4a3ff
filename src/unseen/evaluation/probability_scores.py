"""Scores of probabilities: how well they order the rows, and whether they mean what they say."""

from __future__ import annotations

import numpy as np

from unseen.types.arrays import Codes, Floats, Mask, Rows

SMALLEST = np.finfo(np.float64).eps


def auc(positive: Mask, scores: Floats) -> float | None:
    """Probability that a positive row scores higher than a negative one, ties half; None without both."""
    (area,) = aucs(positive, scores, np.ones((1, len(scores))))
    return None if np.isnan(area) else float(area)


def aucs(positive: Mask, scores: Floats, weights: Floats) -> Floats:
    """`auc` with each row counted so often, for many weightings [draws, rows] at once; NaN without both."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))  # where a new score begins
    placed, is_positive = weights[:, order], positive[order]
    wins = np.add.reduceat(np.where(is_positive, placed, 0.0), starts, axis=1)
    losses = np.add.reduceat(np.where(is_positive, 0.0, placed), starts, axis=1)
    above = np.cumsum(losses, axis=1) - losses / 2
    pairs = wins.sum(axis=1) * losses.sum(axis=1)
    return np.divide((wins * above).sum(axis=1), pairs, out=np.full(len(weights), np.nan), where=pairs > 0)


def mean_auc(gold: Codes, probabilities: Floats, one_vs_one: bool) -> tuple[float | None, Floats]:
    """Mean over classes of the AUC of each against the others, and how much one more of each row would move it.

    Against all others together, or `one_vs_one`: the mean over all pairs of classes of their two AUCs (Hand & Till
    2001). The influence of a row is the derivative of the mean by the row's weight (DeLong et al. 1988); that of all
    rows of a class sums to 0. There is no value when a class has no rows. Each class takes a pass over all rows.
    """
    n, k = probabilities.shape
    sizes = np.bincount(gold, minlength=k)
    influence = np.zeros(n)
    if not sizes.all() or k < 2:
        return None, influence
    total = 0.0
    for code in range(k):
        positive = gold == code
        # What a row of another class counts: its class counts as one, or all rows of other classes count alike.
        weight = np.where(positive, 0.0, 1 / sizes[gold] if one_vs_one else (k - 1) / (n - sizes[code]))
        scores = probabilities[:, code]
        own = np.sort(scores[positive])
        left, right = np.searchsorted(own, scores, "left"), np.searchsorted(own, scores, "right")
        won = 1 - (left + right) / (2 * len(own))  # share of the class's rows that score higher, ties half
        area = float(weight @ won)  # sum of the AUCs against the k − 1 other classes
        total += area
        below = np.bincount(left, weight, minlength=len(own) + 1) + np.bincount(right, weight, minlength=len(own) + 1)
        beaten = np.cumsum(below)[:-1] / 2  # by each of the class's rows, lowest first: weight of the rows below it
        influence[positive] += (beaten[np.searchsorted(own, scores[positive])] - area) / len(own)
        influence += weight * (won - (_mean_by(gold, won, sizes) if one_vs_one else area / (k - 1)))
    return total / (k * (k - 1)), influence / (k * (k - 1))


def _mean_by(gold: Codes, values: Floats, sizes: Rows) -> Floats:
    """For each row the mean of the rows of its class."""
    return (np.bincount(gold, values, minlength=len(sizes)) / sizes)[gold]


def average_precisions(positive: Mask, scores: Floats, weights: Floats) -> Floats:
    """Area under the precision–recall curve by steps, each row counted so often, for many weightings [draws, rows].

    NaN without a positive row.
    """
    order = np.argsort(-scores, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(scores[order]) != 0))
    placed = weights[:, order]
    hits = np.add.reduceat(np.where(positive[order], placed, 0.0), starts, axis=1)
    above, all_hits = np.cumsum(np.add.reduceat(placed, starts, axis=1), axis=1), np.cumsum(hits, axis=1)
    precision = np.divide(all_hits, above, out=np.zeros_like(above), where=above > 0)
    return np.divide(
        (hits * precision).sum(axis=1), all_hits[:, -1], out=np.full(len(weights), np.nan), where=all_hits[:, -1] > 0
    )


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
