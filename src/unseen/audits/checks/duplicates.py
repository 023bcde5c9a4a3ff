"""Test texts that stand in the training part: verbatim, but for trifles, nearly, or in other words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unseen.audits.checks.judging import (
    ONE_SIDED,
    Found,
    examples,
    leaking,
    portion,
    shared,
    skipped,
    without_sides,
)
from unseen.audits.leaks import leak
from unseen.audits.subject import Subject
from unseen.duplicates import Pairs
from unseen.types import Finding


class Wording(NamedTuple):
    """How one kind of likeness is spoken of."""

    check: str
    stands: str
    """… test texts …"""
    repeats: str
    """… rows …"""


WORDS = {
    "exact": Wording("exact_duplicates", "stand verbatim in the training part", "repeat the text of an earlier row"),
    "normalised": Wording(
        "normalised_duplicates",
        "stand in the training part but for case, handles, links and punctuation",
        "repeat an earlier text but for case, handles, links and punctuation",
    ),
    "near": Wording(
        "near_duplicates",
        "have a training text with at least {near:.0%} of their 5-character pieces in common",
        "are nearly the text of another row (at least {near:.0%} of 5-character pieces in common)",
    ),
    "semantic": Wording(
        "semantic_neighbours",
        "have a training text whose vector is nearly theirs (cosine about the centre at least {semantic})",
        "have nearly the vector of another row (cosine about the centre at least {semantic})",
    ),
}


def exact_duplicates(subject: Subject) -> Found:
    """Texts that stand verbatim on both sides."""
    return _of_kind(subject, "exact")


def normalised_duplicates(subject: Subject) -> Found:
    """Texts that are equal on both sides but for case, handles, links and punctuation."""
    return _of_kind(subject, "normalised")


def near_duplicates(subject: Subject) -> Found:
    """Texts on both sides that share most of their 5-character pieces, verified."""
    return _of_kind(subject, "near")


def semantic_neighbours(subject: Subject) -> Found:
    """Texts on both sides with nearly the same vector; needs vectors, and means what these mean."""
    if subject.vectors is None:
        return skipped("semantic_neighbours", "No vectors were given, so texts that say the same were not looked for.")
    return _of_kind(subject, "semantic")


def _of_kind(subject: Subject, kind: str) -> Found:
    said = WORDS[kind]
    thresholds = {"near": subject.near, "semantic": subject.semantic}
    if without_sides(subject):
        return skipped(said.check, ONE_SIDED)
    if subject.split is None:
        return _inside(subject, kind, said.check, said.repeats.format(**thresholds))
    found = leak(subject, kind)
    assert found is not None  # texts are always there
    n = len(subject.test)
    row = shared(subject, f"leaked.{kind}", len(found), n)
    sentence = f"{portion(len(found), n, 'test texts')} {said.stands.format(**thresholds)}."
    level = leaking(len(found) / max(1, n))
    if kind == "semantic" and level == "fail":
        level = "warn"  # vectors suggest, they do not prove
    advice = "" if level == "ok" else "unseen price says what they are worth; unseen repair --dedupe takes them out."
    evidence = examples(subject, found.test)
    return [row], [Finding(said.check, level, sentence, len(found), evidence, advice)]


def _inside(subject: Subject, kind: str, check: str, repeats: str) -> Found:
    pairs = subject.alike(kind)
    assert pairs is not None
    rows = repeated(pairs)
    n = len(subject.data)
    level = "ok" if not len(rows) else "warn"
    advice = "" if level == "ok" else "Keep copies on one side of every split: unseen repair --dedupe, or groups."
    sentence = f"{portion(len(rows), n, 'rows')} {repeats}."
    found = [shared(subject, f"repeated.{kind}", len(rows), n, "all")]
    return found, [Finding(check, level, sentence, len(rows), examples(subject, rows), advice)]


def repeated(pairs: Pairs) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Rows that are like an earlier one, directly or by way of others."""
    groups = pairs.groups()
    first = np.unique(groups, return_index=True)[1]
    return np.setdiff1d(np.arange(pairs.rows), first)
