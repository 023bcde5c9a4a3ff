"""Audits: what may be wrong with data, a split or a result."""

from unseen.audits.confident_learning import Suspects, suspect_labels
from unseen.audits.cross_validation import cross_validated
from unseen.audits.hardness import hard_or_broken
from unseen.audits.label_conflict import Conflict, label_conflict
from unseen.audits.trials import Trial

__all__ = ["Conflict", "Suspects", "Trial", "cross_validated", "hard_or_broken", "label_conflict", "suspect_labels"]
