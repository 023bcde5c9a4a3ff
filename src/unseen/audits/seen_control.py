"""The seen control: how the same test rows score when the rest of their region is in training.

A fall compares hard rows with other rows. It cannot tell whether the hard rows were missed because nothing like them
was in training, or whether they are hard, or mislabelled, wherever they are. The control asks the same rows again:
the test part is dealt into folds, all but one go back into training, as many random training rows with the same
labels are taken out, and the fold is scored. Then

    fall       = selection         + novelty
    random − unseen = (random − seen) + (seen − unseen)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation import Run, fall, level, metric
from unseen.evaluation.bootstrap import DRAWS
from unseen.seeding import child_seed, generator
from unseen.splits.split_records import dealt
from unseen.types import Dataset, Measurement, Split
from unseen.types.arrays import Rows

FOLDS = 5
"""Folds of a test part: four fifths of a region are back in training when a fifth of it is scored."""


@dataclass(frozen=True, eq=False)
class SeenFold:
    """One training of the control."""

    train: Rows
    """As many rows as the split trains on, with the same labels; the other folds are among them."""
    test: Rows
    """The rows of the test part that are asked about; none where it has fewer texts than folds."""


def seen_fold(
    data: Dataset, split: Split, fold: int, *, folds: int = FOLDS, groups: str | None = None, seed: int = 42
) -> SeenFold:
    """Fold `fold` of the test part of `split`, and what to train on so that the others have been seen.

    Equal texts are in one fold. Rows with one value of the attribute `groups` are too: name it where groups are kept
    whole for fear of a leak, and leave it out where the groups themselves are what a split holds out.
    """
    test, train = split.rows("test"), split.rows("train")
    fold_of = dealt(data.take(test), folds, child_seed(seed, "seen"), groups)
    held, back = test[fold_of == fold], test[fold_of != fold]
    taken_out = _as_many(data, train, data.labels[back], generator(seed, "seen", "taken out", fold))
    return SeenFold(np.sort(np.concatenate([np.setdiff1d(train, taken_out), back])), held)


def _as_many(data: Dataset, rows: Rows, labels: npt.NDArray[np.int32], draw: np.random.Generator) -> Rows:
    """Random ones of `rows` that carry these labels, as many of each; the order of rows decides nothing."""
    shuffled = draw.permutation(data.by_id[np.isin(data.by_id, rows)])
    counts = np.bincount(labels, minlength=len(data.label_names))
    return np.concatenate([shuffled[data.labels[shuffled] == label][:count] for label, count in enumerate(counts)])


def parts_of_fall(
    control: Sequence[Run],
    seen: Sequence[Run],
    unseen: Sequence[Run],
    name: str,
    *,
    whole: Sequence[Run] | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """`seen.METRIC`, `fall.selection.METRIC` and `fall.novelty.METRIC`; the two falls add up to `fall.METRIC`.

    `seen` and `unseen` are trainings with equal seeds asked about the same rows, with and without the rest of the
    region in training; `control` are those of random splits. Novelty is a paired difference. Where only some folds
    were scored, `whole` are the unseen trainings on all test rows: novelty is that of the folds, and what these
    folds are easier or harder than the rest is taken off `seen` and put on selection, so that the sum holds.
    """
    options: dict[str, Any] = {"tags": dict(tags or {}), "draws": draws, "seed": seed}
    rows = [
        replace(level(seen, name, **options)[0], metric=f"seen.{name}"),
        replace(fall(control, seen, name, **options), metric=f"fall.selection.{name}"),
        replace(fall(seen, unseen, name, **options), metric=f"fall.novelty.{name}"),
    ]
    if whole is None:
        return rows
    on_all, on_folds = (level(runs, name, **options)[0].value for runs in (whole, unseen))
    if on_all is None or on_folds is None:
        return rows
    easier = on_folds - on_all
    chosen = metric(name)
    sign, most = 1.0 if chosen.higher_is_better else -1.0, chosen.high - chosen.low
    seen_row = _shifted(rows[0], -easier, chosen.low, chosen.high)
    return [seen_row, _shifted(rows[1], sign * easier, -most, most), rows[2]]


def _shifted(row: Measurement, by: float, least: float, most: float) -> Measurement:
    """The measurement with its value and interval moved; no end is moved beyond what can be, unless the value is."""
    if row.value is None:
        return row
    value, low, high = row.value + by, row.low, row.high
    low = None if low is None else max(low + by, min(least, value))
    high = None if high is None else min(high + by, max(most, value))
    return replace(row, value=value, low=low, high=high)
