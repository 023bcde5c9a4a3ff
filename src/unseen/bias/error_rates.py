"""The rates that fairness is argued with, as metrics of two classes: [not positive, positive].

A row is predicted positive when the positive labels together have more than half of the probability, which with
three labels or more need not be what the likeliest label says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unseen.evaluation.metrics import Floats, Metric, counted


def _share(part: Floats, whole: Floats) -> Floats:
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


def _false_positives(tallies: Floats, _: Sequence[str]) -> Floats:
    return _share(tallies[..., 2, 0] - tallies[..., 0, 0], tallies[..., 2, 0])


def _false_negatives(tallies: Floats, _: Sequence[str]) -> Floats:
    return _share(tallies[..., 2, 1] - tallies[..., 0, 1], tallies[..., 2, 1])


def _positives(tallies: Floats, _: Sequence[str]) -> Floats:
    return _share(tallies[..., 1, 1], tallies[..., 2, :].sum(axis=-1))


RATES: Mapping[str, Metric] = {
    "false_positive_rate": replace(counted("false_positive_rate", _false_positives), higher_is_better=False),
    "false_negative_rate": replace(counted("false_negative_rate", _false_negatives), higher_is_better=False),
    "positive_rate": counted("positive_rate", _positives),
}
"""Of negative rows, those predicted positive; of positive rows, those not; of all rows, those predicted positive."""


def counted_rows(name: str, gold: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
    """The rows that a rate is a share of."""
    of = {"false_positive_rate": (0,), "false_negative_rate": (1,)}.get(name, (0, 1))
    return np.isin(gold, of)
