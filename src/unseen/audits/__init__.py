"""Audits: what may be wrong with data, a split, a pipeline or a result."""

from unseen.audits.audit import Audit, audit
from unseen.audits.confident_learning import Suspects, suspect_labels
from unseen.audits.cross_validation import cross_validated
from unseen.audits.hardness import hard_or_broken
from unseen.audits.label_conflict import Conflict, label_conflict
from unseen.audits.label_noise import LabelNoise, corrected_fall, label_noise
from unseen.audits.leaks import Leak, leak
from unseen.audits.seen import FOLDS, SeenFold, parts_of_fall, seen_fold
from unseen.audits.subject import Subject
from unseen.audits.trials import Trial

__all__ = [
    "FOLDS",
    "Audit",
    "Conflict",
    "LabelNoise",
    "Leak",
    "SeenFold",
    "Subject",
    "Suspects",
    "Trial",
    "audit",
    "corrected_fall",
    "cross_validated",
    "hard_or_broken",
    "label_conflict",
    "label_noise",
    "leak",
    "parts_of_fall",
    "seen_fold",
    "suspect_labels",
]
