"""The same measurement on every part of a split."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from unseen.errors import InputError
from unseen.types import Dataset, Measurement, Predictions, Split


def by_part(
    data: Dataset,
    split: Split | None,
    predictions: Sequence[Predictions],
    measured: Callable[[npt.NDArray[np.intp], dict[str, str]], list[Measurement]],
) -> list[Measurement]:
    """What is measured on each part of which some row has all the predictions; without a split, on all rows."""
    if split is None:
        return measured(np.arange(len(data)), {})
    split = split.of(data)
    known = np.logical_and.reduce([pc.is_in(data.ids, value_set=each.ids).to_numpy() for each in predictions])
    parts = [part for part in split.sizes if part != "unused" and known[split.rows(part)].any()]
    if not parts:
        said = "a prediction" if len(predictions) == 1 else "both predictions"
        raise InputError(f"no row of the split has {said}", expected="ids of the data in the predictions")
    return [row for part in parts for row in measured(split.rows(part), {"split": split.name, "part": part})]
