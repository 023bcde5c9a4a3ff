"""The labels of task data under the names of a suite: said by the user, never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import MismatchError, UnknownNameError
from unseen.types import Dataset, some


def relabelled(data: Dataset, labels: Mapping[str, str], label_names: Sequence[str]) -> Dataset:
    """`data` with the labels `label_names`; `labels` says {theirs: ours}, several of theirs may become one of ours.

    A label that has the name of one of ours needs no saying. All that are left over are told at once.
    """
    for theirs, ours in labels.items():
        if ours not in label_names:
            raise UnknownNameError.of(f"label of the suite (for {theirs!r})", ours, label_names)
    unsaid = [name for name in data.label_names if name not in labels and name not in label_names]
    if unsaid:
        raise MismatchError(
            f"the suite does not have all labels of {data.name}",
            problems=[f"{name!r} ({data.label_counts[name]:,} texts) is none of the suite's" for name in unsaid],
            expected=f"each to be one of {some(label_names, 20)}",
            fix="say what each stands for: labels={'theirs': 'ours'} (--map theirs=ours on the command line)",
        )
    places = [list(label_names).index(labels.get(name, name)) for name in data.label_names]
    codes = np.asarray(places, dtype=np.int32)[data.labels]
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(list(label_names), pa.string()))
    table = data.table.set_column(2, "label", pa.chunked_array([column]))
    return replace(data, table=table, label_names=tuple(label_names))


def refuse_unseen_labels(data: Dataset, train: npt.ArrayLike) -> None:
    """Refuse task data with a label of the suite that no text of its training part has."""
    counts = data.take(train).label_counts
    if unseen := [name for name, n in counts.items() if not n]:
        raise MismatchError(
            f"no text of {data.name} to train on has the label {' or '.join(map(repr, unseen))}",
            expected="texts of every label of the suite",
            got=", ".join(f"{name!r} {n:,}" for name, n in counts.items()),
            fix="map the labels otherwise: labels={'theirs': 'ours'} (--map theirs=ours on the command line)",
        )


def refuse_unknown(labels: Mapping[str, str], *data: Dataset) -> None:
    """Refuse a mapping of labels that none of the data has."""
    known = list(dict.fromkeys(name for each in data for name in each.label_names))
    for theirs in labels:
        if theirs not in known:
            raise UnknownNameError.of("label of the task data", theirs, known)
