"""What a model scores that reads nothing, or only the length of a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.chance import chance_of_groups
from unseen.audits.checks.judging import Found, skipped
from unseen.audits.shares import score
from unseen.audits.subject import Subject
from unseen.evaluation import measure
from unseen.splits.partition import word_lengths
from unseen.types import Finding, Measurement, Predictions

Codes = npt.NDArray[np.intp]
METRICS = ("f1.macro", "accuracy")
MUCH = 0.10
"""Macro F1 above chance from which on part of the input already tells the label."""
BINS = 20


def baselines(subject: Subject) -> Found:
    """Macro F1 and accuracy of the majority label, and of the likeliest label by length, beside chance."""
    if not len(subject.test) or not len(subject.train):
        return skipped("baselines", "Baselines learn from a training part and are scored on a test part.")
    lengths = _lengths(subject)
    codes = {"majority": np.zeros(len(subject.data), np.intp), "length": lengths}
    rows = [row for name, each in codes.items() for row in _scored(subject, name, likeliest(subject, each))]
    by_chance = chance_of_groups(lengths, subject.data.labels, subject.train, subject.test, subject.seed)
    n = 0 if by_chance is None else len(subject.test)
    rows.append(Measurement(METRICS[0], by_chance, n, tags=_tags(subject, "chance")))
    return rows, [_judged(rows)]


def _tags(subject: Subject, name: str) -> dict[str, Any]:
    return {"split": subject.split.name if subject.split else "", "part": "test", "baseline": name}


def _scored(subject: Subject, name: str, answers: Predictions) -> list[Measurement]:
    author = subject.columns.get("author")
    return measure(
        subject.data, answers, subject.test, METRICS, tags=_tags(subject, name), groups=author, seed=subject.seed
    )


def _judged(rows: list[Measurement]) -> Finding:
    """Macro F1 of any guess that uses all labels is above that of the majority label, so it is judged by chance."""
    f1 = {str(row.tags["baseline"]): row for row in rows if row.metric == METRICS[0]}
    chance, length = f1["chance"].value or 0.0, f1["length"]
    said = f"majority {score(f1['majority'])}, length {score(length)}, lengths exchanged at random {chance:.3f}"
    told = (length.value or 0.0) - chance >= MUCH and (length.low or 0.0) > chance
    advice = "A model is worth what it adds to this: the length alone tells labels apart." if told else ""
    return Finding(
        "baselines",
        "warn" if told else "ok",
        f"Macro F1 on the test part without reading a text: {said}.",
        advice=advice,
    )


def likeliest(subject: Subject, codes: Codes) -> Predictions:
    """For each row, the shares of the labels among training rows with its code; for a new code, those of all."""
    labels, k = subject.data.labels, len(subject.data.label_names)
    n = int(codes.max(initial=0)) + 1
    counts = np.bincount(codes[subject.train] * k + labels[subject.train], minlength=n * k).reshape(n, k)
    known = counts.sum(axis=1) > 0
    shares = np.where(known[:, None], counts, counts.sum(axis=0)) + 1e-9
    shares = shares / shares.sum(axis=1, keepdims=True)
    chosen = subject.data.take(subject.test)
    return Predictions(chosen.ids, shares[codes[subject.test]], subject.data.label_names)


def _lengths(subject: Subject) -> Codes:
    """Lengths in twenty steps, each with as many training rows."""
    words = word_lengths(subject.data)
    borders = np.quantile(words[subject.train], np.linspace(0, 1, BINS + 1)[1:-1])
    return np.searchsorted(np.unique(borders), words, side="right")
