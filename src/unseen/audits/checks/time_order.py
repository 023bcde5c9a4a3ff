"""Whether the test part comes after the training part."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.checks.judging import Found, examples, portion, shared, skipped
from unseen.audits.subject import Subject
from unseen.types import Finding


def time_order(subject: Subject) -> Found:
    """Test texts that are older than the newest training text: deployment will have none of them."""
    if "time" not in subject.columns:
        return skipped("time_order", "No attribute says when a text was written.")
    if subject.split is None:
        return skipped("time_order", "Without a split, there is no before and after.")
    ranks = _ranks(subject.data.attribute(subject.columns["time"]))
    known = ranks >= 0
    test, train = subject.test[known[subject.test]], subject.train[known[subject.train]]
    if not len(test) or not len(train):
        return skipped("time_order", f"The attribute {subject.columns['time']!r} is missing on one side.")
    older = test[ranks[test] < ranks[train].max()]
    said = f"{portion(len(older), len(test), 'test texts')} are older than the newest training text."
    row = shared(subject, "older_than_training", len(older), len(test))
    if not len(older):
        return [row], [Finding("time_order", "ok", said)]
    advice = "A model in use meets later texts only: unseen split --with time tests on the newest."
    return [row], [Finding("time_order", "warn", said, len(older), examples(subject, older), advice)]


def _ranks(times: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The place of each time in their order, equal for equal times; -1 where there is none."""
    values = times.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    distinct = values.unique().drop_null()
    in_order = distinct.take(pc.sort_indices(distinct))
    return pc.fill_null(pc.index_in(values, value_set=in_order), -1).to_numpy(zero_copy_only=False).astype(np.int64)
