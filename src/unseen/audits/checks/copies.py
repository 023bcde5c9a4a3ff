"""Texts that stand twice: on both sides of a split, with another label, or copied as oversampling does it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from unseen.audits.findings import CheckResult, leak_level, skipped
from unseen.audits.oversampling import copies_on_both_sides
from unseen.audits.subject import LIKENESSES, Subject, contradicted, leak
from unseen.duplicates import Pairs
from unseen.evaluation.measurements import share
from unseen.types import Finding
from unseen.types.arrays import Codes, Rows
from unseen.types.numbers import percent, portion

ONE_SIDED = "One side of the split has no rows."


class Wording(NamedTuple):
    """How one kind of likeness is spoken of."""

    check: str
    stands: str
    """… test texts …"""
    repeats: str
    """… rows …"""
    same: str
    """The same text (…)."""


WORDS = {
    "exact": Wording(
        "exact_duplicates",
        "stand verbatim in the training part",
        "repeat the text of an earlier row",
        "verbatim",
    ),
    "normalised": Wording(
        "normalised_duplicates",
        "stand in the training part but for case, handles, links and punctuation",
        "repeat an earlier text but for case, handles, links and punctuation",
        "but for case, handles, links and punctuation",
    ),
    "near": Wording(
        "near_duplicates",
        "have a training text with at least {near} of their 5-character pieces in common",
        "are nearly the text of another row (at least {near} of 5-character pieces in common)",
        "nearly",
    ),
    "semantic": Wording(
        "semantic_neighbours",
        "have a training text whose vector is nearly theirs (cosine about the centre at least {semantic})",
        "have nearly the vector of another row (cosine about the centre at least {semantic})",
        "by its vector",
    ),
}


def exact_duplicates(subject: Subject) -> CheckResult:
    """Texts that stand verbatim on both sides."""
    return _duplicates(subject, "exact")


def normalised_duplicates(subject: Subject) -> CheckResult:
    """Texts that are equal on both sides but for case, handles, links and punctuation."""
    return _duplicates(subject, "normalised")


def near_duplicates(subject: Subject) -> CheckResult:
    """Texts on both sides that share most of their 5-character pieces, verified."""
    return _duplicates(subject, "near")


def semantic_neighbours(subject: Subject) -> CheckResult:
    """Texts on both sides with nearly the same vector; needs vectors, and means what these mean."""
    if subject.vectors is None:
        return skipped("semantic_neighbours", "No vectors were given, so texts that say the same were not looked for.")
    return _duplicates(subject, "semantic")


def _duplicates(subject: Subject, kind: str) -> CheckResult:
    if subject.one_sided:
        return skipped(WORDS[kind].check, ONE_SIDED)
    return _repeated(subject, kind) if subject.split is None else _leaked(subject, kind)


def _leaked(subject: Subject, kind: str) -> CheckResult:
    """Test texts that are like a training text."""
    leaked = leak(subject, kind)
    assert leaked is not None  # texts are always there
    n = len(subject.test)
    level = leak_level(len(leaked) / max(1, n))
    if kind == "semantic" and level == "fail":
        level = "warn"  # vectors suggest, they do not prove
    advice = f"{subject.command('audit price')} says what they are worth"
    if kind != "semantic":
        advice += f"; {subject.command('split repair', f'--dedupe {kind}')} takes them out"
    row = share(f"leaked.{kind}", len(leaked), n, subject.tags())
    message = f"{portion(len(leaked), n, 'test texts')} {_worded(subject, WORDS[kind].stands)}"
    for stricter in LIKENESSES[: LIKENESSES.index(kind)]:
        same = leak(subject, stricter)
        if len(leaked) and same is not None and np.array_equal(same.test, leaked.test):
            level, message = "ok", f"{message}: the texts of {WORDS[stricter].check}, and no others"
            break
    return [row], [_finding(subject, WORDS[kind].check, level, f"{message}.", leaked.test, f"{advice}.")]


def _repeated(subject: Subject, kind: str) -> CheckResult:
    """Rows that are like an earlier one, where there is no split."""
    pairs = subject.alike(kind)
    assert pairs is not None
    rows, n = repeated(pairs), len(subject.data)
    advice = "Keep copies on one side of every split"
    if kind != "semantic":
        how = subject.command("split repair", f"--together {kind}")
        advice += f": {how} makes such a split, --dedupe {kind} takes them out"
    row = share(f"repeated.{kind}", len(rows), n, subject.tags("all"))
    message = f"{portion(len(rows), n, 'rows')} {_worded(subject, WORDS[kind].repeats)}."
    return [row], [_finding(subject, WORDS[kind].check, "warn" if len(rows) else "ok", message, rows, f"{advice}.")]


def _worded(subject: Subject, words: str) -> str:
    return words.format(near=percent(subject.near, places=0), semantic=subject.semantic)


def _finding(subject: Subject, check: str, level: str, message: str, rows: Rows, advice: str) -> Finding:
    """A finding about these rows, with advice where something is wrong."""
    return Finding(check, level, message, len(rows), subject.evidence(rows), "" if level == "ok" else advice)


def repeated(pairs: Pairs) -> Rows:
    """Rows that are like an earlier one, directly or by way of others."""
    first = np.unique(pairs.groups(), return_index=True)[1]
    return np.setdiff1d(np.arange(pairs.rows), first)


def conflicting_labels(subject: Subject) -> CheckResult:
    """Texts whose copies, of every kind, carry another label."""
    if subject.one_sided:
        return skipped("conflicting_labels", ONE_SIDED)
    kinds = [kind for kind in LIKENESSES if subject.alike(kind) is not None]
    results = [_conflicts(subject, kind) for kind in kinds]
    return [row for rows, _ in results for row in rows], [finding for _, findings in results for finding in findings]


def _conflicts(subject: Subject, kind: str) -> CheckResult:
    rows, same = contradicted(subject, kind), WORDS[kind].same
    if subject.split is None:
        n, part = len(subject.data), "all"
        message = f"{portion(len(rows), n, 'rows')} carry another label than a row with the same text ({same})."
    else:
        n, part = len(subject.test), "test"
        message = f"{portion(len(rows), n, 'test texts')} stand in the training part ({same}) with another label."
    advice = "Read them: one of the labels is wrong, or the text alone does not decide."
    if kind != "semantic":
        how = "--dedupe near" if kind == "near" else "--conflicts drop"
        advice += f" {subject.command('split repair', how)} takes them out."
    check = "conflicting_labels" if kind == "exact" else f"conflicting_labels.{kind}"
    row = share(f"conflicting.{kind}", len(rows), n, subject.tags(part))
    return [row], [_finding(subject, check, "warn" if len(rows) else "ok", message, rows, advice)]


def copied_items(subject: Subject) -> CheckResult:
    """Copied items on both sides: by the attribute `original`, else equal texts with equal labels."""
    if subject.split is None:
        return skipped("copied_items", "Without a split, copies lie on no side.")
    if subject.one_sided:
        return skipped("copied_items", ONE_SIDED)
    items = _items(subject)
    test, train = (np.bincount(items[rows], minlength=len(items)) for rows in (subject.test, subject.train))
    copies, both = test + train, (test > 0) & (train > 0)
    n, count = int((copies > 1).sum()), int(both.sum())
    if not n:
        return [share("copied_items", 0, 0, subject.tags())], [Finding("copied_items", "ok", "No item was copied.")]
    expected = _on_both_sides_by_chance(len(subject.test) / len(subject.used), copies[copies > 1])
    rows = subject.test[both[items[subject.test]]]
    message = (
        f"{portion(count, n, 'items with copies')} lie on both sides; copying them before a random split would put "
        f"{percent(expected)} there."
    )
    level = leak_level(len(rows) / max(1, len(subject.test)))
    advice = "" if level == "ok" else "Copy rows of the training part only, after the split."
    row = share("copied_items", count, n, subject.tags() | {"expected": round(expected, 4)})
    return [row], [Finding("copied_items", level, message, count, subject.evidence(rows), advice)]


def _on_both_sides_by_chance(tested: float, copies: Codes) -> float:
    """Share of the items that chance would put on both sides, given the share of rows that are tested."""
    numbers, items = np.unique(copies, return_counts=True)
    return sum(copies_on_both_sides(tested, int(n)) * int(m) for n, m in zip(numbers, items, strict=True)) / len(copies)


def _items(subject: Subject) -> Codes:
    """The item that each row is a copy of."""
    by_attribute = subject.alike("original")
    if by_attribute is not None:
        return by_attribute.groups()
    texts = subject.alike("exact")
    assert texts is not None
    pairs = texts.stands_for * len(subject.data.label_names) + subject.data.labels
    return np.unique(pairs, return_inverse=True)[1]
