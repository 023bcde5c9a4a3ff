"""Analysis: what a split is like, whoever made it."""

from unseen.analysis.attributes import attribute_kinds, shift, split_groups, under_represented
from unseen.analysis.changes import PropertyChange, largest_changes
from unseen.analysis.correlations import correlations
from unseen.analysis.difficulty import Curve, Point, difficulty_curve
from unseen.analysis.overlap import unigram_overlap
from unseen.analysis.properties import distances, lengths, properties, sizes_and_mixes
from unseen.analysis.shared_tests import shared_tests
from unseen.analysis.words import Words, class_topics, class_word_overlap, rare_words, top_words

__all__ = [
    "Curve",
    "Point",
    "PropertyChange",
    "Words",
    "attribute_kinds",
    "class_topics",
    "class_word_overlap",
    "correlations",
    "difficulty_curve",
    "distances",
    "largest_changes",
    "lengths",
    "properties",
    "rare_words",
    "shared_tests",
    "shift",
    "sizes_and_mixes",
    "split_groups",
    "top_words",
    "under_represented",
    "unigram_overlap",
]
