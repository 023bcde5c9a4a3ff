"""How far the test part of a split is from its training part."""

from __future__ import annotations

import numpy as np

from unseen.analysis.sides import sides_of
from unseen.seeding import child_seed, generator
from unseen.splits.neighbours import SAMPLE, nearest_distances, sampled
from unseen.types import Dataset, Embeddings, Measurement, Split
from unseen.types.arrays import Codes, Floats, Mask, Rows

MOST_DRAWS = 10
"""Random splits to compare with: one of a large test part is enough, one of a small part is luck."""


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
