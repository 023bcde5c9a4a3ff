"""What an author's name alone gives away: the score of a classifier that never reads a text."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from unseen.audits.authors.concentration import TOPS, Writers
from unseen.audits.chance import chance_of, chance_of_groups, commonest_label, favourite
from unseen.evaluation.bootstrap import DRAWS
from unseen.evaluation.f_scores import averaged, class_scores
from unseen.evaluation.measurements import measure
from unseen.types import Dataset, Measurement, Predictions, Split

Codes = npt.NDArray[np.intp]
SEED = 42
FEW_UNITS = 20_000
"""Above so many tested rows there are five times fewer resamples: the interval is narrow anyway."""


def know_the_author(data: Dataset, split: Split | None, author: str) -> list[Measurement]:
    """`know_the_author.METRIC` of predicting each row from its author alone, beside `majority_class.METRIC`.

    The tag `rule` says what the rule knows: `leave-one-out`, the other rows of the same author; `split`, the rows
    of the author in train and dev, tested on the test part. The most frequent label is predicted; an author with
    no other row, and an unknown one, gets the majority label, as one with a tie does. `permuted_authors.f1.macro` is
    the rule by chance: the mean of 20 permutations of the authors among the rows that it knows. Then, for each label,
    `know_top_authors`: calling everything by its top 1, 2, 5 or 10 authors that label, and nothing else. Intervals
    draw whole authors.
    """
    writers, labels = Writers.of(data, author), data.labels
    measurements: list[Measurement] = []
    if len(data):
        rows = np.arange(len(data))
        by_author = leave_one_out(writers.code, labels)
        chance = chance_of(partial(leave_one_out, labels=labels), writers.code, labels, rows, rows, SEED)
        measurements += _scored(data, rows, by_author, labels, chance, author, "leave-one-out")
    if split is not None:
        split = split.of(data)
        train, test = split.rows("train", "dev"), split.rows("test")
        if len(train) and len(test):
            by_author = commonest_label(writers.code, labels, train)
            by_chance = chance_of_groups(writers.code, labels, train, test, SEED)
            measurements += _scored(data, test, by_author, labels[train], by_chance, author, "split")
    return measurements + top_authors(data, writers)


def leave_one_out(codes: Codes, labels: npt.NDArray[np.integer]) -> Codes:
    """The label of each row by the other rows with its code; ties, and rows without others, get the majority label.

    That label is one and the same for all rows: the majority of the *other* rows would, on balanced data, always be
    the wrong one.
    """
    k = int(labels.max()) + 1
    n, known = int(codes.max()) + 1, codes >= 0
    counts = np.bincount(codes[known] * k + labels[known], minlength=n * k).reshape(n, k)
    others = np.vstack([counts, np.zeros((1, k))])[codes]
    others[np.flatnonzero(known), labels[known]] -= 1
    return favourite(others, np.bincount(labels, minlength=k))


def top_authors(data: Dataset, writers: Writers) -> list[Measurement]:
    """`know_top_authors.METRIC` with the tag `authors`: the top authors of a label get it, all other rows do not.

    They wrote a share r of the label's rows (recall), and a share p of their rows has it (precision), so its F1 is
    2pr / (p + r). `f1.macro` and `f1.weighted` are over two classes, the label and the rest.
    """
    table = writers.table(data.labels, len(data.label_names))
    measurements = []
    for code, label in enumerate(data.label_names):
        rows = data.label_counts[label]
        order = np.lexsort((np.arange(writers.count), -table[:, code]))
        for top in TOPS:
            chosen = order[:top][table[order[:top], code] > 0]
            hits, all_theirs = int(table[chosen, code].sum()), int(table[chosen].sum())
            others = len(data) - rows - (all_theirs - hits)  # rows that neither are of the label nor are given it
            tallied = np.array(
                [[others, hits], [len(data) - all_theirs, all_theirs], [len(data) - rows, rows]], dtype=np.float64
            )  # hits, predicted, gold of: the rest, the label
            values = {
                **{score: float(class_scores(tallied, score)[1]) for score in ("precision", "recall", "f1")},
                **{f"f1.{scheme}": averaged(tallied, scheme) for scheme in ("macro", "weighted")},
            }
            measurements += [
                Measurement(
                    f"know_top_authors.{name}", value if rows else None, len(data) if rows else 0,
                    slice=f"label={label}", tags={"authors": top},
                )
                for name, value in values.items()
            ]  # fmt: skip
    return measurements


def _scored(
    data: Dataset,
    rows: Codes,
    by_author: Codes,
    known: npt.NDArray[np.integer],
    chance: float | None,
    author: str,
    rule: str,
) -> list[Measurement]:
    """F1 on `rows` of the rule and of the majority of the labels that it knows, with intervals, and its chance."""
    metrics = ["f1.macro", "accuracy", *(f"f1[{label}]" for label in data.label_names)]
    draws = DRAWS if len(rows) <= FEW_UNITS else DRAWS // 5
    majority = np.full(len(data), np.bincount(known).argmax())
    measurements = []
    for name, codes in (("know_the_author", by_author), ("majority_class", majority)):
        predictions = Predictions(data.ids, np.eye(len(data.label_names))[codes], data.label_names)
        measured = measure(data, predictions, rows, metrics, groups=author, tags={"rule": rule}, draws=draws)
        measurements += [replace(row, metric=f"{name}.{row.metric}") for row in measured]
    return [*measurements, Measurement("permuted_authors.f1.macro", chance, len(rows), tags={"rule": rule})]
