"""A rule that says the commonest label of a group, and what it scores when groups tell nothing.

On balanced data any guesser beats always saying one label in macro F1: a rule is worth what it adds to the same rule
with the groups permuted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.evaluation.f_scores import tally
from unseen.evaluation.weighting import PLAIN
from unseen.seeding import generator
from unseen.types.arrays import Codes, Rows

TIMES = 20
"""Permutations that chance is the mean of."""


def chance_of_groups(codes: Codes, labels: Codes, train: Rows, test: Rows, seed: int = 42) -> float | None:
    """Mean macro F1 on `test` of saying the commonest training label of each row's group, groups permuted in `train`.

    `codes` is a number per row, the same for rows of one group, -1 for a row without one. None without rows. It has no
    interval: compare it with the interval of the rule itself.
    """

    def rule(permuted: Codes) -> Codes:
        return commonest_label(permuted, labels, train, codes)[test]

    return chance_of(rule, codes, labels, train, test, seed) if len(train) and len(test) else None


def chance_of(rule: Callable[[Codes], Codes], codes: Codes, labels: Codes, rows: Rows, test: Rows, seed: int) -> float:
    """Mean macro F1 on `test` of what `rule` says about them, given codes that are permuted among `rows`."""
    draw, scores = generator(seed, "permuted groups"), []
    alike = rows[np.lexsort((labels[rows], codes[rows]))]  # rows that are alike can change places: any order will do
    for _ in range(TIMES):
        permuted = codes.copy()
        permuted[alike] = draw.permutation(codes[alike])
        scores.append(macro_f1(labels[test], rule(permuted)))
    return float(np.mean(scores))


def commonest_label(codes: Codes, labels: Codes, train: Rows, asked: Codes | None = None) -> Codes:
    """For every row the commonest label of the training rows with its code; ties and new codes: of all of them.

    `asked` are the codes that the rows are asked by, where these are others than those that are learnt from.
    """
    asked = codes if asked is None else asked
    k, n = int(labels.max()) + 1, int(max(codes.max(), asked.max())) + 1
    known = train[codes[train] >= 0]
    counts = np.bincount(codes[known] * k + labels[known], minlength=n * k).reshape(n, k)
    everywhere = np.bincount(labels[train], minlength=k)
    return favourite(np.vstack([counts, np.zeros((1, k))]), everywhere)[asked]


def favourite(counts: npt.NDArray[Any], everywhere: Codes) -> Codes:
    """The commonest label of each line; ties, and lines without counts, go to the label that is commoner everywhere."""
    return np.asarray((counts * (1 + everywhere.sum()) + everywhere).argmax(axis=-1))


def macro_f1(gold: Codes, predicted: Codes) -> float:
    """Macro F1 over the labels that occur."""
    return float(PLAIN["macro"].averages(tally(gold, predicted, int(max(gold.max(), predicted.max())) + 1)))
