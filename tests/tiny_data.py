"""Datasets written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from unseen.types import Dataset, string_array
from unseen.types.arrays import encode_labels


def build(
    ids: Sequence[str] = ("1", "2", "3", "4"),
    texts: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    label_names: Sequence[str] = ("no", "yes"),
    **attributes: Sequence[Any],
) -> Dataset:
    """A dataset written by hand: what is not given is made up from the ids."""
    texts = [f"text {each}" for each in ids] if texts is None else texts
    labels = [label_names[row % len(label_names)] for row in range(len(ids))] if labels is None else labels
    columns = {
        "id": string_array(list(ids)),
        "text": string_array(list(texts)),
        "label": encode_labels(string_array(list(labels)), tuple(label_names)),
    }
    table = pa.table(columns | {name: pa.array(values) for name, values in attributes.items()})
    return Dataset("tiny", table, tuple(label_names), tuple(attributes))
