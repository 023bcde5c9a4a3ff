"""What an author's name alone gives away: the score of a classifier that never reads a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.authors.concentration import TOPS
from unseen.audits.authors.writers import UNKNOWN, Writers
from unseen.evaluation.f_scores import averaged, class_scores
from unseen.evaluation.intervals import DRAWS
from unseen.evaluation.measuring import measure
from unseen.types import Dataset, Measurement, Predictions, Split

Codes = npt.NDArray[np.intp]
FEW_UNITS = 20_000
"""Above so many tested rows there are five times fewer resamples: the interval is narrow anyway."""


def know_the_author(data: Dataset, split: Split | None, author: str) -> list[Measurement]:
    """`know_the_author.METRIC` of predicting each row from its author alone, beside `majority_class.METRIC`.

    The tag `rule` says what the rule knows: `leave-one-out`, the other rows of the same author; `split`, the rows
    of the author in train and dev, tested on the test part. The most frequent label is predicted; an author with
    no other row, and an unknown one, gets the majority label. Then, for each label, `know_top_authors`: calling
    everything by its top 1, 2, 5 or 10 authors that label, and nothing else. Intervals draw whole authors.
    """
    writers = Writers.of(data, author)
    everything = np.arange(len(data))
    found = _scored(data, everything, *leave_one_out(data, writers), author, "leave-one-out") if len(data) else []
    if split is not None:
        cut = split.of(data)
        train = np.concatenate([cut.rows("train"), cut.rows("dev")])
        if len(train) and len(cut.rows("test")):
            found += _scored(data, cut.rows("test"), *from_train(data, writers, train), author, "split")
    return found + top_authors(data, writers)


def leave_one_out(data: Dataset, writers: Writers) -> tuple[Codes, Codes]:
    """The label of each row by its author's other rows, and by all other rows; ties go to the commoner label."""
    k = len(data.label_names)
    own = np.eye(k)[data.labels]
    others = own.sum(axis=0) - own  # [rows, k]
    table = np.vstack([writers.table(data.labels, k), np.zeros((1, k))])  # the last row: unknown authors
    by_author = table[writers.code] - np.where(writers.known[:, None], own, 0.0)
    return _favourite(by_author, others), others.argmax(axis=1)


def from_train(data: Dataset, writers: Writers, train: Codes) -> tuple[Codes, Codes]:
    """The label of every row by its author's rows in `train`, and by all rows there."""
    k = len(data.label_names)
    seen = Writers(np.where(np.isin(np.arange(len(data)), train), writers.code, UNKNOWN), writers.count)
    table = np.vstack([seen.table(data.labels, k), np.zeros((1, k))])
    total = np.bincount(data.labels[train], minlength=k)
    everywhere = np.broadcast_to(total, (len(data), k))
    return _favourite(table[writers.code], everywhere), everywhere.argmax(axis=1)


def top_authors(data: Dataset, writers: Writers) -> list[Measurement]:
    """`know_top_authors.METRIC` with the tag `authors`: the top authors of a label get it, all other rows do not.

    They wrote a share r of the label's rows (recall), and a share p of their rows has it (precision), so its F1 is
    2pr / (p + r). `f1.macro` and `f1.weighted` are over two classes, the label and the rest.
    """
    table = writers.table(data.labels, len(data.label_names))
    found = []
    for code, label in enumerate(data.label_names):
        rows = data.label_counts[label]
        order = np.lexsort((np.arange(writers.count), -table[:, code]))
        for top in TOPS:
            chosen = order[:top][table[order[:top], code] > 0]
            hits, all_theirs = int(table[chosen, code].sum()), int(table[chosen].sum())
            matrix = np.array(
                [[len(data) - rows - (all_theirs - hits), all_theirs - hits], [rows - hits, hits]], dtype=np.float64
            )  # [gold, predicted]: the rest, the label
            values = {
                **{each: float(class_scores(matrix, each)[1]) for each in ("precision", "recall", "f1")},
                **{f"f1.{scheme}": averaged(matrix, scheme) for scheme in ("macro", "weighted")},
            }
            found += [
                Measurement(
                    f"know_top_authors.{name}", value if rows else None, len(data) if rows else 0,
                    slice=f"label={label}", tags={"authors": top},
                )
                for name, value in values.items()
            ]  # fmt: skip
    return found


def _favourite(counts: npt.NDArray[np.float64], everywhere: npt.NDArray[Any]) -> Codes:
    """The commonest label of each line; ties, and lines without counts, go to the label that is commoner everywhere."""
    return np.asarray((counts * (1 + everywhere.sum(axis=1, keepdims=True)) + everywhere).argmax(axis=1))


def _scored(data: Dataset, rows: Codes, by_author: Codes, majority: Codes, author: str, rule: str) -> list[Measurement]:
    """F1 of both rules on `rows`, with intervals."""
    metrics = ["f1.macro", "accuracy", *(f"f1[{label}]" for label in data.label_names)]
    draws = DRAWS if len(rows) <= FEW_UNITS else DRAWS // 5
    found = []
    for name, said in (("know_the_author", by_author), ("majority_class", majority)):
        certain = np.eye(len(data.label_names))[said]
        predictions = Predictions(data.ids, certain, data.label_names)
        measured = measure(data, predictions, rows, metrics, groups=author, tags={"rule": rule}, draws=draws)
        found += [
            Measurement(f"{name}.{row.metric}", row.value, row.n, row.low, row.high, row.slice, row.tags)
            for row in measured
        ]
    return found
