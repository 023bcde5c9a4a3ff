"""Sizes and class mixes of the parts of a split."""

from __future__ import annotations

import numpy as np

from unseen.types import PARTS, Dataset, Measurement, Split


def sizes_and_mixes(data: Dataset, split: Split) -> list[Measurement]:
    """Rows of each part and the share of each label in it."""
    split = split.of(data)
    rows = []
    for part in (part for part in PARTS if part in split.sizes):
        labels = data.labels[split.rows(part)]
        tags = {"split": split.name, "part": part}
        rows.append(Measurement("rows", float(len(labels)), len(labels), tags=tags))
        for code, name in enumerate(data.label_names):
            share = float(np.mean(labels == code))
            rows.append(Measurement("label_share", share, len(labels), slice=f"label={name}", tags=tags))
    return rows
