"""How well probabilities order the rows: areas under curves."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def auc(positive: Mask, scores: Floats) -> float | None:
    """Probability that a positive row scores higher than a negative one, ties half; None without both."""
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if not n_positive or not n_negative:
        return None
    ranks = rankdata(scores)[positive].sum()
    return float((ranks - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


def auc_one_vs_rest(gold: npt.NDArray[np.integer], probabilities: Floats, weighted: bool = False) -> float | None:
    """Mean over classes of the AUC of each class against all others; None when a class has no rows."""
    counts = np.bincount(gold, minlength=probabilities.shape[1])
    areas = [auc(gold == c, probabilities[:, c]) for c in range(probabilities.shape[1])]
    if any(area is None for area in areas):
        return None
    return float(np.average(np.array(areas, dtype=float), weights=counts if weighted else None))


def auc_one_vs_one(gold: npt.NDArray[np.integer], probabilities: Floats) -> float | None:
    """Mean over pairs of classes of their two AUCs (Hand & Till 2001); None when a class has no rows."""
    areas = []
    for a, b in combinations(range(probabilities.shape[1]), 2):
        rows = (gold == a) | (gold == b)
        both = auc(gold[rows] == a, probabilities[rows, a]), auc(gold[rows] == b, probabilities[rows, b])
        if both[0] is None or both[1] is None:
            return None
        areas.append((both[0] + both[1]) / 2)
    return float(np.mean(areas))


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


def aucs_one_vs_rest(gold: npt.NDArray[np.integer], probabilities: Floats, weights: Floats) -> Floats:
    """`auc_one_vs_rest` for many weightings at once."""
    return np.mean([aucs(gold == c, probabilities[:, c], weights) for c in range(probabilities.shape[1])], axis=0)


def aucs_one_vs_one(gold: npt.NDArray[np.integer], probabilities: Floats, weights: Floats) -> Floats:
    """`auc_one_vs_one` for many weightings at once."""
    areas = []
    for a, b in combinations(range(probabilities.shape[1]), 2):
        rows = np.flatnonzero((gold == a) | (gold == b))
        if not len(rows):
            return np.full(len(weights), np.nan)
        some = weights[:, rows]
        areas += [aucs(gold[rows] == each, probabilities[rows, each], some) for each in (a, b)]
    return np.asarray(np.mean(areas, axis=0))


def average_precision(positive: Mask, scores: Floats) -> float | None:
    """Area under the precision–recall curve by steps; None without a positive row."""
    if not positive.any():
        return None
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(positive[order])[ends]
    precision = hits / (ends + 1)
    recall = hits / positive.sum()
    return float(np.sum(np.diff(np.append(0.0, recall)) * precision))
