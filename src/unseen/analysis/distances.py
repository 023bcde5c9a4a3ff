"""How far the test part of a split is from its training part."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.seeding import child_seed, generator
from unseen.splits.distance import SAMPLE, nearest_distances, sampled
from unseen.types import Dataset, Embeddings, Measurement, Split

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
    split = split.of(data)
    train = np.concatenate([split.rows("train"), split.rows("dev")])
    test = split.rows("test")
    if not len(train) or not len(test):
        raise InputError(f"the split {split.name!r} has no distance", expected="rows in train and in test")
    measured = _nearest(embeddings, np.sort(train), test, metric, seed)
    both = np.sort(np.concatenate([train, test]))
    draws = [
        _matched(data.labels[both], data.labels[test], child_seed(seed, number))
        for number in range(min(MOST_DRAWS, max(1, SAMPLE // len(test))))
    ]
    chance = np.concatenate([_nearest(embeddings, both[~drawn], both[drawn], metric, seed) for drawn in draws])
    tags = {"split": split.name, "part": "test"}
    spread = 1.96 * float(measured.std()) / np.sqrt(len(measured))
    mean, n = float(measured.mean()), len(measured)
    rows = [
        Measurement(f"nearest_train_distance.{metric}", mean, n, max(0.0, mean - spread), mean + spread, tags=tags),
        Measurement(f"nearest_train_distance.{metric}.matched_random", float(chance.mean()), len(chance), tags=tags),
    ]
    ratio = mean / float(chance.mean()) if chance.mean() > 0 else None
    rows.append(Measurement(f"nearest_train_distance_ratio.{metric}", ratio, n if ratio is not None else 0, tags=tags))
    return rows


def _nearest(
    embeddings: Embeddings, train: npt.NDArray[np.intp], test: npt.NDArray[np.intp], metric: str, seed: int
) -> npt.NDArray[np.float64]:
    looked_up = embeddings.vectors[sampled(test, seed)]
    return nearest_distances(looked_up, embeddings.vectors[train], metric)


def _matched(labels: npt.NDArray[np.int32], wanted: npt.NDArray[np.int32], seed: int) -> npt.NDArray[np.bool_]:
    """Random rows with as many of each label as `wanted`, even if that is all of them."""
    shuffled = generator(seed, "matched random").permutation(len(labels))
    drawn = np.zeros(len(labels), bool)
    for label, count in zip(*np.unique(wanted, return_counts=True), strict=True):
        drawn[shuffled[labels[shuffled] == label][:count]] = True
    return drawn
