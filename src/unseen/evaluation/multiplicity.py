"""Many comparisons at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


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


def widened(low: float, high: float, standard_error: float, df: float, families: int) -> tuple[float, float]:
    """The 95 % interval of a fall by Student's t, widened because it was chosen as the worst of so many `families`.

    The bound is Šidák's: all intervals hold at once with a probability of at least 95 %, whether families share their
    reference or not. Falls that go together, as these do, make it rather too wide.

    >>> [round(each, 3) for each in widened(-0.01, 0.11, 0.03, 100.0, 5)]
    [-0.029, 0.129]
    """
    from scipy.special import stdtrit

    both = 0.95 ** (1 / families)
    more = float(stdtrit(df, (1 + both) / 2) - stdtrit(df, 0.975)) * standard_error
    return low - more, high + more
