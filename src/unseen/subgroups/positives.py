"""Any labels as two classes, the positive labels together against all others, and the rates of these two.

The rates that fairness is argued with are metrics of two classes: [not positive, positive]. A row is predicted positive
when the positive labels together have more than half of the probability, which with three labels or more need not be
what the likeliest label says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.measurements import aligned
from unseen.evaluation.metrics import Metric
from unseen.registry import require_known
from unseen.types import Dataset, Predictions, as_names, some
from unseen.types.arrays import Floats, Mask, Rows


def binary(data: Dataset, predictions: Predictions, rows: Rows, positive: Sequence[str]) -> tuple[Mask, Floats]:
    """Which of `rows` have a positive label, and the summed probability of the positive labels."""
    codes = positive_codes(data.label_names, positive)
    scores = aligned(data, predictions, rows)[:, codes].sum(axis=1)
    return np.isin(data.labels[rows], codes), scores


def positive_codes(label_names: Sequence[str], positive: Sequence[str]) -> list[int]:
    """Places of the positive labels; there must be some, and some others."""
    positive = as_names(positive)
    require_known("label", label_names, *positive)
    if not positive or set(positive) == set(label_names):
        raise InputError(
            "the positive labels must be some of the labels, not all",
            expected=f"some of {some(label_names, 20)}",
            got=some(positive, 20) or "none",
            fix="positive=[…] (--positive on the command line): the labels that a model finds too easily in a group",
        )
    return [place for place, name in enumerate(label_names) if name in positive]


def shares(part: Floats, whole: Floats) -> Floats:
    """`part` of `whole`; NaN where that is nothing."""
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=np.asarray(whole) > 0)


def _missed(name: str, label: int) -> Metric:
    """The share of the rows of one class that get the other."""
    return Metric(
        name, higher_is_better=False,
        of_counts=lambda tallies, _: shares(tallies[..., 2, label] - tallies[..., 0, label], tallies[..., 2, label]),
    )  # fmt: skip


RATE_OF = {"false_positive_rate": 0, "false_negative_rate": 1}
"""The class whose rows a rate is a share of, where that is one."""
RATES: Mapping[str, Metric] = {name: _missed(name, label) for name, label in RATE_OF.items()} | {
    "positive_rate": Metric(
        "positive_rate", of_counts=lambda tallies, _: shares(tallies[..., 1, 1], tallies[..., 2, :].sum(axis=-1))
    )
}
"""Of negative rows, those predicted positive; of positive rows, those not; of all rows, those predicted positive."""
