"""Audits: what may be wrong with data, a split, a pipeline or a result."""

from unseen.audits.audit import Audit, audit
from unseen.audits.hardness import Trial, hard_or_broken
from unseen.audits.label_noise import LabelNoise, corrected_fall, label_noise, label_noise_of, witnessed
from unseen.audits.seen_control import FOLDS, parts_of_fall, seen_fold
from unseen.audits.subject import Leak, Subject, leak

__all__ = [
    "FOLDS",
    "Audit",
    "LabelNoise",
    "Leak",
    "Subject",
    "Trial",
    "audit",
    "corrected_fall",
    "hard_or_broken",
    "label_noise",
    "label_noise_of",
    "leak",
    "parts_of_fall",
    "seen_fold",
    "witnessed",
]
