"""Many comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.types import Measurement


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted so that rejecting those below .05 errs at all with a probability of at most .05.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    adjusted = np.empty(len(p))
    adjusted[order] = steps
    return [float(each) for each in adjusted]


def worst_of(row: Measurement, families: int) -> Measurement:
    return row
