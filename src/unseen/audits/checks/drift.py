"""Whether the parts of a split have one class mix, sensible sizes and texts of one length."""

from __future__ import annotations

import numpy as np

from unseen.audits.checks.judging import Found, portion, shared, skipped
from unseen.audits.subject import Subject
from unseen.evaluation.intervals import wilson
from unseen.splits.partition import word_lengths
from unseen.types import Finding, Measurement

MIX, SKEWED = 0.02, 0.10
"""Largest difference of a label's share between the parts that is even; from which on it is skewed."""
UNSURE = 0.05
"""Half-width of the interval of an accuracy of one half from which on a test part is small."""
SMALL = 0.2
"""Differences of mean length below so many standard deviations are small."""


def class_mix(subject: Subject) -> Found:
    """The shares of the labels in test and training."""
    if subject.split is None:
        return _mix_of_all(subject)
    if not len(subject.test) or not len(subject.train):
        return skipped("class_mix", "One side of the split has no rows.")
    names, k = subject.data.label_names, len(subject.data.label_names)
    counts = [np.bincount(subject.data.labels[rows], minlength=k) for rows in (subject.test, subject.train)]
    test, train = (each / each.sum() for each in counts)
    apart = np.abs(test - train)
    worst = int(apart.argmax())
    noise = 1.96 * float(np.sqrt(train[worst] * (1 - train[worst]) / len(subject.test)))
    said = (
        f"{names[worst]!r} is {100 * test[worst]:.1f} % of the test part and {100 * train[worst]:.1f} % of the "
        f"training part, the largest difference of {k} labels."
    )
    gone = [names[label] for label in range(k) if not counts[0][label] or not counts[1][label]]
    rows = [
        shared(subject, f"label_share[{name}]", int(count), int(counts[0].sum()))
        for name, count in zip(names, counts[0], strict=True)
    ]
    if gone:
        said = f"{', '.join(map(repr, gone))} is missing on one side. {said}"
    level = "fail" if gone or apart[worst] >= SKEWED else "warn" if apart[worst] > max(MIX, noise) else "ok"
    advice = "" if level == "ok" else "Compare with a random split of the same mix before blaming texts for a fall."
    return rows, [Finding("class_mix", level, said, advice=advice)]


def _mix_of_all(subject: Subject) -> Found:
    counts = subject.data.label_counts
    n, rare = len(subject.data), min(counts, key=lambda name: counts[name], default="")
    if not n:
        return skipped("class_mix", "There are no rows.")
    level = "ok" if counts[rare] else "fail"
    rows = [shared(subject, f"label_share[{name}]", count, n, "all") for name, count in counts.items()]
    return rows, [Finding("class_mix", level, f"The rarest label, {rare!r}, is {portion(counts[rare], n, 'rows')}.")]


def sizes(subject: Subject) -> Found:
    """Whether the test part is large enough to tell models apart, in all and for its rarest label."""
    if subject.split is None:
        return skipped("sizes", "Without a split, there are no parts.")
    n, used = len(subject.test), len(subject.used)
    if not n:
        return [], [Finding("sizes", "fail", "The test part has no rows.", advice="Make a split with a test part.")]
    low, high = wilson(n // 2, n)
    counts = np.bincount(subject.data.labels[subject.test], minlength=len(subject.data.label_names))
    rare = int(counts.argmin())
    said = (
        f"The test part is {portion(n, used, 'rows')}: an accuracy near one half is known to ± {50 * (high - low):.1f} "
        f"points; its rarest label, {subject.data.label_names[rare]!r}, has {counts[rare]:,} rows."
    )
    level = "warn" if (high - low) / 2 > UNSURE or counts[rare] < 30 else "ok"
    advice = "Report intervals; scores of a label with few rows are mostly luck." if level == "warn" else ""
    return [shared(subject, "test_share", n, used)], [Finding("sizes", level, said, advice=advice)]


def text_lengths(subject: Subject) -> Found:
    """Whether test texts are longer or shorter than training texts."""
    if subject.split is None or not len(subject.test) or not len(subject.train):
        return skipped("text_lengths", "Lengths are compared between two sides with rows.")
    words = word_lengths(subject.data).astype(np.float64)
    test, train = words[subject.test], words[subject.train]
    apart = (test.mean() - train.mean()) / (train.std() or 1.0)
    error = float(np.sqrt(test.var() / len(test) + train.var() / len(train)))
    said = f"Test texts have {test.mean():.1f} words on average, training texts {train.mean():.1f}."
    drifts = abs(apart) > SMALL and abs(test.mean() - train.mean()) > 1.96 * error
    tags = {"split": subject.split.name, "part": "test"}
    row = Measurement("length_drift", float(apart), len(test), tags=tags)
    advice = "Score short and long texts apart: unseen score --slice." if drifts else ""
    return [row], [Finding("text_lengths", "warn" if drifts else "ok", said, advice=advice)]
