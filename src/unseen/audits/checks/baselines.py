"""What a model scores that reads nothing, only the length of a text, or only its author."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.checks.judging import Found, skipped
from unseen.audits.shares import score
from unseen.audits.subject import Subject
from unseen.evaluation import measure
from unseen.splits.partition import group_values, word_lengths
from unseen.types import Dataset, Finding, Measurement, Predictions

Codes = npt.NDArray[np.intp]
METRICS = ("f1.macro", "accuracy")
MUCH = 0.10
"""Macro F1 above the majority's from which on part of the input already tells the label."""
BINS = 20


def baselines(subject: Subject) -> Found:
    """Macro F1 and accuracy of the majority label, and of the likeliest label by length and by author."""
    if not len(subject.test) or not len(subject.train):
        return skipped("baselines", "Baselines learn from a training part and are scored on a test part.")
    codes = {"majority": np.zeros(len(subject.data), np.intp), "length": _lengths(subject)}
    if "author" in subject.columns:
        codes["author"] = _authors(subject.data, subject.columns["author"])
    rows: list[Measurement] = []
    for name, each in codes.items():
        answers = likeliest(subject, each)
        tags: dict[str, Any] = {"split": subject.split.name if subject.split else "", "part": "test", "baseline": name}
        rows += measure(subject.data, answers, subject.test, METRICS, tags=tags, seed=subject.seed)
    return rows, [_judged(rows)]


def _judged(rows: list[Measurement]) -> Finding:
    f1 = {str(row.tags["baseline"]): row for row in rows if row.metric == METRICS[0]}
    said = ", ".join(f"{name} {score(row)}" for name, row in f1.items())
    least = f1["majority"].value or 0.0
    much = [name for name, row in f1.items() if (row.value or 0.0) - least >= MUCH]
    level = "warn" if much else "ok"
    advice = f"A model is worth what it adds to this: {', '.join(much)} alone tells labels apart." if much else ""
    return Finding("baselines", level, f"Macro F1 on the test part without reading a text: {said}.", advice=advice)


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


def _authors(data: Dataset, attribute: str) -> Codes:
    """A number per author; rows without one share theirs."""
    return np.unique([str(value) for value in group_values(data, attribute)], return_inverse=True)[1]
