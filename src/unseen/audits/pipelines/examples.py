"""Pipelines to learn from: leaking ones that were published, what is wrong with them put right, and their names."""

from __future__ import annotations

from unseen.audits.pipelines.copied_rows import oversampled_before_split, oversampled_in_training
from unseen.audits.pipelines.word_selection import (
    vocabulary_of_all_data,
    words_chosen_in_training,
    words_chosen_on_all_data,
)
from unseen.audits.pipelines.word_vectors import features_in_each_fold, features_on_all_data
from unseen.registry import Registry

EXAMPLES = Registry(
    "pipeline",
    {
        "features-on-all-data.v1": "unseen.audits.pipelines.word_vectors:features_on_all_data",
        "features-in-each-fold.v1": "unseen.audits.pipelines.word_vectors:features_in_each_fold",
        "oversampled-before-split.v1": "unseen.audits.pipelines.copied_rows:oversampled_before_split",
        "oversampled-in-training.v1": "unseen.audits.pipelines.copied_rows:oversampled_in_training",
        "words-chosen-on-all-data.v1": "unseen.audits.pipelines.word_selection:words_chosen_on_all_data",
        "words-chosen-in-training.v1": "unseen.audits.pipelines.word_selection:words_chosen_in_training",
        "vocabulary-of-all-data.v1": "unseen.audits.pipelines.word_selection:vocabulary_of_all_data",
    },
)

__all__ = [
    "EXAMPLES",
    "features_in_each_fold",
    "features_on_all_data",
    "oversampled_before_split",
    "oversampled_in_training",
    "vocabulary_of_all_data",
    "words_chosen_in_training",
    "words_chosen_on_all_data",
]
