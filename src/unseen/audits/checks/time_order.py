"""Whether the test part comes after the training part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.checks.judging import Found, examples, portion, shared, skipped
from unseen.audits.subject import Subject
from unseen.errors import InputError
from unseen.splits.time import moments
from unseen.types import Finding


def time_order(subject: Subject) -> Found:
    """Test texts that are older than the newest training text: deployment will have none of them."""
    if "time" not in subject.columns:
        return skipped("time_order", "No attribute says when a text was written.")
    if subject.split is None:
        return skipped("time_order", "Without a split, there is no before and after.")
    try:
        when, known = _moments(subject.data.attribute(subject.columns["time"]))
    except InputError as cause:
        return skipped("time_order", f"{subject.columns['time']!r} holds no times: {cause.message}, {cause.expected}.")
    test, train = subject.test[known[subject.test]], subject.train[known[subject.train]]
    if not len(test) or not len(train):
        return skipped("time_order", f"The attribute {subject.columns['time']!r} is missing on one side.")
    older = test[when[test] < when[train].max()]
    said = f"{portion(len(older), len(test), 'test texts')} are older than the newest training text."
    unknown = len(subject.test) + len(subject.train) - len(test) - len(train)
    if unknown:
        said += f" {unknown:,} rows have no time."
    row = shared(subject, "older_than_training", len(older), len(test))
    if not len(older):
        return [row], [Finding("time_order", "ok", said)]
    advice = "A model in use meets later texts only: unseen split --with time tests on the newest."
    return [row], [Finding("time_order", "warn", said, len(older), examples(subject, older), advice)]


def _moments(times: pa.ChunkedArray) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Times as numbers, and which rows have one; refuses text that is no ISO 8601."""
    known = pc.is_valid(times).to_numpy()
    present = times.filter(pa.array(known)).combine_chunks()
    found = np.zeros(len(known))
    plain = (
        pa.types.is_temporal(present.type) or pa.types.is_integer(present.type) or pa.types.is_floating(present.type)
    )
    values = present.to_numpy(zero_copy_only=False) if plain else np.asarray(present.to_pylist(), dtype=object)
    found[known] = moments(values)
    return found, known
