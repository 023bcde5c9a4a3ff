"""The score of somebody who has not read the texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.evaluation.metrics import Codes, Floats, Metric


def chance(metric: Metric, gold: Codes, mix: Floats, label_names: Sequence[str]) -> float | None:
    """What guessing gives on `gold`; None where the metric knows no such level (calibration error).

    The guesser knows the class mix of the training part and draws labels from it, whatever the text.
    Scores of labels are those of the confusion counts this gives on average: accuracy is Σ gold share ×
    mix, 1/k when both are even. Areas under ROC are ½, average precision is the share of the class;
    log loss and Brier score are those of answering the mix itself.
    """
    counts = np.bincount(gold, minlength=len(mix)).astype(np.float64)
    if metric.of_counts is not None:
        found = float(metric.of_counts(np.array([counts * mix, counts.sum() * mix, counts]), label_names))
        return None if np.isnan(found) else found
    if metric.id.startswith("roc_auc"):
        return 0.5
    if metric.id.startswith("average_precision"):
        shares = dict(zip(label_names, counts / counts.sum(), strict=True))
        label = metric.id.partition("[")[2].removesuffix("]")
        return float(shares[label]) if label else float(np.mean(list(shares.values())))
    return None if metric.id.startswith("ece") else metric(gold, np.tile(mix, (len(gold), 1)), label_names)
