"""Any labels as two classes: the positive labels together against all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.measuring import aligned
from unseen.types import Dataset, Predictions, some


def binary(
    data: Dataset, predictions: Predictions, rows: npt.NDArray[np.intp], positive: Sequence[str]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Which of `rows` have a positive label, and the summed probability of the positive labels."""
    codes = positive_codes(data.label_names, positive)
    scores = aligned(data, predictions, rows)[:, codes].sum(axis=1)
    return np.isin(data.labels[rows], codes), scores


def positive_codes(label_names: Sequence[str], positive: Sequence[str]) -> list[int]:
    """Places of the positive labels; there must be some, and some others."""
    for each in positive:
        if each not in label_names:
            raise UnknownNameError.of("label", each, label_names)
    if not positive or set(positive) == set(label_names):
        raise InputError(
            "the positive labels must be some of the labels, not all",
            expected=f"some of {some(label_names, 20)}",
            got=some(positive, 20) or "none",
            fix="positive=[…] (--positive on the command line): the labels that a model finds too easily in a group",
        )
    return [place for place, name in enumerate(label_names) if name in positive]
