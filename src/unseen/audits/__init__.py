"""Audits: what may be wrong with data, a split, a pipeline or a result."""

from unseen.audits.audit import Audit, audit
from unseen.audits.confident_learning import Suspects, suspect_labels
from unseen.audits.cross_validation import cross_validated
from unseen.audits.hardness import hard_or_broken
from unseen.audits.label_conflict import Conflict, label_conflict
from unseen.audits.leaks import Leak, leak
from unseen.audits.subject import Subject
from unseen.audits.trials import Trial

__all__ = [
    "Audit",
    "Conflict",
    "Leak",
    "Subject",
    "Suspects",
    "Trial",
    "audit",
    "cross_validated",
    "hard_or_broken",
    "label_conflict",
    "leak",
    "suspect_labels",
]
