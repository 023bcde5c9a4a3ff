"""Which texts to label first: a stratified sample that can be stopped anywhere.

Strata are made of what the model says: its label, and how sure it is. Texts are ranked once, for all numbers of labels,
so the first hundred of the first two hundred are the hundred that would have been drawn alone: labelling can stop, go
on, and be interrupted, and any beginning of the ranking is a random sample of each stratum.
"""

from __future__ import annotations

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.strata import interleaved
from unseen.seeding import generator
from unseen.types.arrays import Codes, Floats, Rows

BINS = 3
"""Of sureness, for each label that the model gives."""
MOST_STRATA = 12
"""With more, a hundred labels are too few for each; then sureness alone makes the strata."""
FEWEST = 20
"""Texts that a stratum has at least, where it is not all of them."""
LEAST_SPREAD = 0.25
"""How much a stratum varies at least, in the eyes of whoever shares out labels: a sure model may be wrong."""


def strata_of(probabilities: Floats) -> Codes:
    """The stratum of each text: the label that it is given, within it how sure the model is, the least sure first."""
    predicted, sureness = probabilities.argmax(axis=1), probabilities.max(axis=1)
    labels = np.unique(predicted)
    if len(labels) * BINS > MOST_STRATA:
        predicted, labels = np.zeros_like(predicted), np.array([0])
    strata, first = np.empty(len(predicted), np.int64), 0
    for label in labels:
        rows = np.flatnonzero(predicted == label)
        bins = max(1, min(BINS if len(labels) > 1 else 2 * BINS, len(rows) // FEWEST))
        rank = np.empty(len(rows), np.int64)
        rank[np.argsort(sureness[rows], kind="stable")] = np.arange(len(rows))
        strata[rows] = first + rank * bins // len(rows)
        first += bins
    return strata


def ranking(probabilities: Floats, count: int, *, seed: int = 42, stratified: bool = True) -> Rows:
    """The first `count` texts to label, in their order; rows must be in the order of their ids.

    Half of the labels go to strata by their size, as a random sample would, half by size times how much the model
    expects to err there: unsure strata tell most about the score. Without `stratified` it is a random sample.
    """
    texts = len(probabilities)
    if not 1 <= count <= texts:
        raise InputError("labels are for some of the texts", expected=f"a number from 1 to {texts:,}", got=str(count))
    draw = generator(seed, "label sample")
    if not stratified:
        return draw.permutation(texts)[:count]
    strata = strata_of(probabilities)
    return interleaved(strata, _shares(probabilities, strata), draw)[:count]


def _shares(probabilities: Floats, strata: Codes) -> Floats:
    """The share of labels that each stratum gets."""
    sizes = np.bincount(strata).astype(np.float64)
    sureness = np.bincount(strata, weights=probabilities.max(axis=1)) / sizes
    spread = np.maximum(np.sqrt(sureness * (1 - sureness)), LEAST_SPREAD)
    return np.asarray((sizes / sizes.sum() + sizes * spread / (sizes * spread).sum()) / 2)
