"""Properties of a split that need no vectors: sizes, label mixes, lengths, words, attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.analysis.attributes import attribute_kinds, shift, split_groups, under_represented, value_shares
from unseen.analysis.class_words import class_word_overlap
from unseen.analysis.overlap import unigram_overlap
from unseen.analysis.rare_words import English, rare_words
from unseen.analysis.sides import mean_of, sides_of
from unseen.analysis.words import Words, words_for
from unseen.types import PARTS, Dataset, Measurement, Split


def properties(
    data: Dataset,
    split: Split,
    words: Words | None = None,
    *,
    categories: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    neutral: str | None = None,
    english: English = None,
) -> list[Measurement]:
    """Word overlap, lengths, rare words, class words, and how each attribute lies on the two sides.

    For several splits of the same data make `words` once, by `Words.of(data)`. Which attributes are
    categories and which are groups is decided by `attribute_kinds` unless given; `neutral` is a label
    without words of its own; `english` replaces the list of English words.
    """
    as_category, as_grouping = attribute_kinds(data, categories, groups)
    words = words_for(data, words)
    rows = unigram_overlap(data, split, words) + lengths(data, split, words)
    rows += rare_words(data, split, words, english)
    rows += class_word_overlap(data, split, words, neutral)
    for attribute in as_category:
        rows += under_represented(data, split, attribute) + value_shares(data, split, attribute)
        rows += shift(data, split, attribute)
    for attribute in as_grouping:
        rows += split_groups(data, split, attribute)
    return rows


def lengths(data: Dataset, split: Split, words: Words | None = None) -> list[Measurement]:
    """Mean words of a text, on the training side and in the test part."""
    sides, counted = sides_of(data, split), words_for(data, words).lengths
    return [
        mean_of("length.words", counted[rows], sides.tags(part))
        for part, rows in (("train", sides.train), ("test", sides.test))
    ]


def sizes_and_mixes(data: Dataset, split: Split) -> list[Measurement]:
    """Rows of each part and the share of each label in it."""
    split = split.of(data)
    rows = []
    for part in (part for part in PARTS if part in split.sizes):
        labels = data.labels[split.rows(part)]
        tags = {"split": split.name, "part": part}
        rows.append(Measurement("rows", float(len(labels)), len(labels), tags=tags))
        for code, name in enumerate(data.label_names):
            share = float(np.mean(labels == code))
            rows.append(Measurement("label_share", share, len(labels), slice=f"label={name}", tags=tags))
    return rows
