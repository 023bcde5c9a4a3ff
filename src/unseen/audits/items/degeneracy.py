"""Models that say the same about everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.audits.items.effects import row_of
from unseen.audits.shares import percent
from unseen.types import Finding, Measurement

SAME = 0.5
"""With more than this share of identical answers a model hardly reads its texts."""
ONE_CLASS = 0.95
DIGITS = 6
SHARES = ("identical_answers", "largest_predicted_class")


def sameness(answers: Sequence[npt.NDArray[np.float64]], tags: dict[str, str | int | float]) -> list[Measurement]:
    """Means over models of two shares of the tested rows, from probabilities [rows, classes] of each model.

    `identical_answers`: rows with the most frequent answer, to six digits. `largest_predicted_class`: rows given the
    label that is given most. Texts that are copies of each other have identical answers by right.
    """
    n = len(answers[0])
    same = [_most_frequent(np.round(each, DIGITS)) / n for each in answers]
    largest = [np.bincount(each.argmax(axis=1)).max() / n for each in answers]
    return [
        Measurement(name, float(np.mean(values)), n, tags=tags)
        for name, values in zip(SHARES, (same, largest), strict=True)
    ]


def _most_frequent(answers: npt.NDArray[np.float64]) -> int:
    return int(np.unique(answers, axis=0, return_counts=True)[1].max())


def degenerate(rows: Sequence[Measurement], trainings: Sequence[str], largest_gold: float) -> Finding:
    """Whether a training gave models that answer alike whatever they are asked, by `sameness` on the original rows.

    `largest_gold` is the share of the most frequent label among the tested rows.
    """
    bad = []
    for train in trainings:
        same, largest = (row_of(rows, name, train=train, test="original").value or 0 for name in SHARES)
        if same > SAME or largest > max(ONE_CLASS, largest_gold):
            bad.append(f"{train}: {percent(same)} identical answers, {percent(largest)} one label")
    if not bad:
        return Finding("items.degenerate", "ok", "No training gave a model that answers alike whatever it is asked.")
    advice = "Such a model has learnt nothing; its score says how frequent one label is."
    return Finding("items.degenerate", "warn", f"Models answer alike: {'; '.join(bad)}.", len(bad), advice=advice)
