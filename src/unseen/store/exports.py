"""Splits in the forms that other tools read."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import MissingPackageError
from unseen.types import PARTS, Dataset, Split


def to_indices(split: Split) -> dict[str, npt.NDArray[np.intp]]:
    """Row positions per part, e.g. for numpy or scikit-learn; parts without rows are left out."""
    return {part: split.rows(part) for part in split.sizes}


def to_dataset_dict(data: Dataset, split: Split) -> Any:
    """A Hugging Face `DatasetDict` with one dataset per part: all columns, and the cluster of each row."""
    try:
        from datasets import ClassLabel, DatasetDict
        from datasets import Dataset as HubDataset
    except ImportError as cause:
        raise MissingPackageError.of("datasets", "a DatasetDict", "hf") from cause
    split = split.of(data)
    names = ClassLabel(names=list(data.label_names))
    parts = {}
    for part in (part for part in PARTS if part in split.sizes):
        rows = split.rows(part)
        table = data.take(rows).table
        columns = {name: table[name].to_pylist() for name in table.column_names if name != "label"}
        columns["label"] = data.labels[rows].tolist()
        columns["cluster"] = split.clusters[rows].tolist()
        parts[part] = HubDataset.from_dict(columns).cast_column("label", names)
    return DatasetDict(parts)
