"""Properties of a split: sizes, label mixes, lengths, words and attributes, which need no vectors, and distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unseen.analysis.attributes import attribute_kinds, shift, split_groups, under_represented, value_shares
from unseen.analysis.overlap import unigram_overlap
from unseen.analysis.sides import mean_of, sides_of
from unseen.analysis.words import English, Words, class_word_overlap, rare_words, words_for
from unseen.seeding import child_seed, generator
from unseen.splits.neighbours import SAMPLE, nearest_distances, sampled
from unseen.types import PARTS, Dataset, Embeddings, Measurement, Split
from unseen.types.arrays import Codes, Floats, Mask, Rows

MOST_DRAWS = 10
"""Random splits to compare with: one of a large test part is enough, one of a small part is luck."""


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


def distances(
    data: Dataset, split: Split, embeddings: Embeddings, metric: str = "cosine", seed: int = 42
) -> list[Measurement]:
    """Mean distance of a test row to its nearest training row, and the same for matched random splits.

    `nearest_train_distance` has a 95 % interval for the mean over rows. `nearest_train_distance_ratio`
    divides it by that of random splits of the same rows, sizes and class mix: 1 is what chance gives,
    2 means that test texts are twice as far from anything seen in training.
    """
    sides = sides_of(data, split)
    train, test, tags = sides.train, sides.test, sides.tags()
    measured = _nearest(embeddings, train, test, metric, seed)
    both = np.sort(np.concatenate([train, test]))
    draws = [
        _matched(data.labels[both], data.labels[test], child_seed(seed, number))
        for number in range(min(MOST_DRAWS, max(1, SAMPLE // len(test))))
    ]
    chance = np.concatenate([_nearest(embeddings, both[~drawn], both[drawn], metric, seed) for drawn in draws])
    spread = 1.96 * float(measured.std()) / np.sqrt(len(measured))
    mean, n = float(measured.mean()), len(measured)
    rows = [
        Measurement(f"nearest_train_distance.{metric}", mean, n, max(0.0, mean - spread), mean + spread, tags=tags),
        Measurement(f"nearest_train_distance.{metric}.matched_random", float(chance.mean()), len(chance), tags=tags),
    ]
    ratio = mean / float(chance.mean()) if chance.mean() > 0 else None
    rows.append(Measurement(f"nearest_train_distance_ratio.{metric}", ratio, n if ratio is not None else 0, tags=tags))
    return rows


def _nearest(embeddings: Embeddings, train: Rows, test: Rows, metric: str, seed: int) -> Floats:
    looked_up = embeddings.vectors[sampled(test, seed)]
    return nearest_distances(looked_up, embeddings.vectors[train], metric)


def _matched(labels: Codes, like: Codes, seed: int) -> Mask:
    """Random rows with as many of each label as `like`, even if that is all of them."""
    shuffled = generator(seed, "matched random").permutation(len(labels))
    drawn = np.zeros(len(labels), bool)
    for label, count in zip(*np.unique(like, return_counts=True), strict=True):
        drawn[shuffled[labels[shuffled] == label][:count]] = True
    return drawn
