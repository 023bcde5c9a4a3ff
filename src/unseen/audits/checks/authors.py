"""Whether a few authors wrote most of a class, and what knowing them is worth."""

from __future__ import annotations

from unseen.audits.authors import author_findings, concentration, know_the_author
from unseen.audits.checks.judging import Found, skipped
from unseen.audits.subject import Subject


def author_concentration(subject: Subject) -> Found:
    """Gini and top shares of the authors of each class, and what knowing the author alone would score."""
    if "author" not in subject.columns:
        return skipped("author_concentration", "No attribute says the author of a text.")
    attribute = subject.columns["author"]
    rows = concentration(subject.data, attribute) + know_the_author(subject.data, subject.split, attribute)
    return rows, author_findings(rows)
