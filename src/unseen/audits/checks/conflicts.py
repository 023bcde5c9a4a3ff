"""The same text with different labels."""

from __future__ import annotations

from unseen.audits.checks.judging import ONE_SIDED, Found, examples, joined, portion, shared, skipped, without_sides
from unseen.audits.leaks import contradicted
from unseen.audits.subject import LIKENESSES, Subject
from unseen.types import Finding

CALLED = {
    "exact": "verbatim",
    "normalised": "but for case, handles, links and punctuation",
    "near": "nearly",
    "semantic": "by its vector",
}


def conflicting_labels(subject: Subject) -> Found:
    """Texts whose copies, of every kind, carry another label."""
    if without_sides(subject):
        return skipped("conflicting_labels", ONE_SIDED)
    kinds = [kind for kind in LIKENESSES if subject.alike(kind) is not None]
    return joined(_of_kind(subject, kind) for kind in kinds)


def _of_kind(subject: Subject, kind: str) -> Found:
    check = "conflicting_labels" if kind == "exact" else f"conflicting_labels.{kind}"
    if subject.split is None:
        rows, n = contradicted(subject, kind), len(subject.data)
        said = f"{portion(len(rows), n, 'rows')} carry another label than a row with the same text ({CALLED[kind]})."
        found = [shared(subject, f"conflicting.{kind}", len(rows), n, "all")]
    else:
        rows, n = contradicted(subject, kind), len(subject.test)
        said = f"{portion(len(rows), n, 'test texts')} stand in the training part ({CALLED[kind]}) with another label."
        found = [shared(subject, f"conflicting.{kind}", len(rows), n)]
    level = "warn" if len(rows) else "ok"
    advice = "Read them: one of the labels is wrong, or the text alone does not decide. unseen repair --conflicts."
    return found, [Finding(check, level, said, len(rows), examples(subject, rows), advice if len(rows) else "")]
