"""What the parts of a split are like: class mix, sizes, lengths of texts, and what one scores without reading them."""

from __future__ import annotations

import numpy as np

from unseen.audits.chance import chance_of_groups
from unseen.audits.findings import CheckResult, skipped
from unseen.audits.subject import Subject
from unseen.evaluation import measure
from unseen.evaluation.intervals import wilson
from unseen.evaluation.measurements import share
from unseen.splits.length import word_lengths
from unseen.types import Finding, Measurement, Predictions
from unseen.types.arrays import Codes
from unseen.types.numbers import number, percent, points, portion, scored

MIX, SKEWED = 0.02, 0.10
"""Largest difference of a label's share between the parts that is even; from which on it is skewed."""
UNSURE = 0.05
"""Half-width of the interval of an accuracy of one half from which on a test part is small."""
FEW = 30
"""A label with fewer test rows is scored by luck."""
SMALL = 0.2
"""Differences of mean length below so many standard deviations are small."""
TRIVIAL = ("f1.macro", "accuracy")
MUCH = 0.10
"""Macro F1 above chance from which on part of the input already tells the label."""
BINS = 20


def class_mix(subject: Subject) -> CheckResult:
    """The shares of the labels in test and training."""
    if subject.split is None:
        return _mix_of_all(subject)
    if subject.one_sided:
        return skipped("class_mix", "One side of the split has no rows.")
    names, k = subject.data.label_names, len(subject.data.label_names)
    counts = [np.bincount(subject.data.labels[rows], minlength=k) for rows in (subject.test, subject.train)]
    test, train = (count / count.sum() for count in counts)
    apart = np.abs(test - train)
    worst = int(apart.argmax())
    noise = 1.96 * float(np.sqrt(train[worst] * (1 - train[worst]) / len(subject.test)))
    message = (
        f"{names[worst]!r} is {percent(test[worst], 1)} of the test part and {percent(train[worst], 1)} of the "
        f"training part, the largest difference of {k} labels."
    )
    missing = [names[label] for label in range(k) if not counts[0][label] or not counts[1][label]]
    if missing:
        message = f"{', '.join(map(repr, missing))} is missing on one side. {message}"
    level = "fail" if missing or apart[worst] >= SKEWED else "warn" if apart[worst] > max(MIX, noise) else "ok"
    advice = "" if level == "ok" else "Compare with a random split of the same mix before blaming texts for a fall."
    rows = [
        share(f"label_share[{name}]", int(count), len(subject.test), subject.tags())
        for name, count in zip(names, counts[0], strict=True)
    ]
    return rows, [Finding("class_mix", level, message, advice=advice)]


def _mix_of_all(subject: Subject) -> CheckResult:
    counts, n = subject.data.label_counts, len(subject.data)
    if not n:
        return skipped("class_mix", "There are no rows.")
    rare = min(counts, key=lambda name: counts[name])
    rows = [share(f"label_share[{name}]", count, n, subject.tags("all")) for name, count in counts.items()]
    message = f"The rarest label, {rare!r}, is {portion(counts[rare], n, 'rows')}."
    return rows, [Finding("class_mix", "ok" if counts[rare] else "fail", message)]


def sizes(subject: Subject) -> CheckResult:
    """Whether the test part is large enough to tell models apart, in all and for its rarest label."""
    if subject.split is None:
        return skipped("sizes", "Without a split, there are no parts.")
    n, used = len(subject.test), len(subject.used)
    if not n:
        return [], [Finding("sizes", "fail", "The test part has no rows.", advice="Make a split with a test part.")]
    low, high = wilson(n // 2, n)
    counts = np.bincount(subject.data.labels[subject.test], minlength=len(subject.data.label_names))
    rare = int(counts.argmin())
    message = (
        f"The test part is {portion(n, used, 'rows')}: an accuracy near one half is known to ± "
        f"{points((high - low) / 2)} points; its rarest label, {subject.data.label_names[rare]!r}, has "
        f"{counts[rare]:,} rows."
    )
    level = "warn" if (high - low) / 2 > UNSURE or counts[rare] < FEW else "ok"
    advice = "Report intervals; scores of a label with few rows are mostly luck." if level == "warn" else ""
    return [share("test_share", n, used, subject.tags())], [Finding("sizes", level, message, advice=advice)]


def text_lengths(subject: Subject) -> CheckResult:
    """Whether test texts are longer or shorter than training texts."""
    if not len(subject.test) or not len(subject.train):
        return skipped("text_lengths", "Lengths are compared between two sides with rows.")
    words = word_lengths(subject.data).astype(np.float64)
    test, train = words[subject.test], words[subject.train]
    apart = (test.mean() - train.mean()) / (train.std() or 1.0)
    error = float(np.sqrt(test.var() / len(test) + train.var() / len(train)))
    drifts = abs(apart) > SMALL and abs(test.mean() - train.mean()) > 1.96 * error
    message = f"Test texts have {number(test.mean(), 1)} words on average, training texts {number(train.mean(), 1)}."
    advice = "Score short and long texts apart: unseen model score --slice." if drifts else ""
    row = Measurement("length_drift", float(apart), len(test), tags=subject.tags())
    return [row], [Finding("text_lengths", "warn" if drifts else "ok", message, advice=advice)]


def baselines(subject: Subject) -> CheckResult:
    """Macro F1 and accuracy of the majority label, and of the likeliest label by length, beside chance.

    Macro F1 of any guess that uses all labels is above that of the majority label, so it is judged by chance.
    """
    if not len(subject.test) or not len(subject.train):
        return skipped("baselines", "Baselines learn from a training part and are scored on a test part.")
    lengths = _lengths(subject)
    majority, by_length = (_scored(subject, name, codes) for name, codes in (
        ("majority", np.zeros_like(lengths)), ("length", lengths),
    ))  # fmt: skip
    chance = chance_of_groups(lengths, subject.data.labels, subject.train, subject.test, subject.seed) or 0.0
    by_chance = Measurement(TRIVIAL[0], chance, len(subject.test), tags=subject.tags() | {"baseline": "chance"})
    length = by_length[0]
    tells = (length.value or 0.0) - chance >= MUCH and (length.low or 0.0) > chance
    message = (
        f"Macro F1 on the test part without reading a text: majority {scored(majority[0])}, length {scored(length)}, "
        f"lengths exchanged at random {number(chance)}."
    )
    advice = "A model is worth what it adds to this: the length alone tells labels apart." if tells else ""
    finding = Finding("baselines", "warn" if tells else "ok", message, advice=advice)
    return [*majority, *by_length, by_chance], [finding]


def _scored(subject: Subject, name: str, codes: Codes) -> list[Measurement]:
    """The metrics of a model that knows the labels of training rows with the same code, and nothing else."""
    labels, k = subject.data.labels, len(subject.data.label_names)
    n = int(codes.max(initial=0)) + 1
    counts = np.bincount(codes[subject.train] * k + labels[subject.train], minlength=n * k).reshape(n, k)
    known = counts.sum(axis=1) > 0
    shares = np.where(known[:, None], counts, counts.sum(axis=0)) + 1e-9
    shares = shares / shares.sum(axis=1, keepdims=True)
    ids = subject.data.take(subject.test).ids
    predictions = Predictions(ids, shares[codes[subject.test]], subject.data.label_names)
    tags, author = subject.tags() | {"baseline": name}, subject.columns.get("author")
    return measure(subject.data, predictions, subject.test, TRIVIAL, tags=tags, groups=author, seed=subject.seed)


def _lengths(subject: Subject) -> Codes:
    """Lengths in twenty steps, each with as many training rows."""
    words = word_lengths(subject.data)
    borders = np.quantile(words[subject.train], np.linspace(0, 1, BINS + 1)[1:-1])
    return np.searchsorted(np.unique(borders), words, side="right")
