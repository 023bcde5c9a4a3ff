"""Which single texts move a score: by *removal*, as if one were not there, or by *correction*, as if it were right.

Removal changes the rows of a class, so weights and the N of the entropy scheme with it; correction does not. Texts with
the same gold label and the same answer move a score alike, so the cells of the confusion matrix decide it all: each
that is not empty is tried once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.f_scores import class_scores, tally
from unseen.evaluation.metrics import Metric
from unseen.types.arrays import Codes, Floats, Mask, Rows

WAYS = ("removal", "correction")
POINT = 0.01
"""A text that moves a score by more is flagged."""
AT_ONCE = 300_000
"""Numbers that are changed together; more do not fit into the cache and take longer."""


@dataclass(frozen=True, eq=False)
class Influence:
    """By how much one text of each cell of the confusion matrix moves a score; of corrections, of each wrong cell."""

    way: str
    gold: Codes
    predicted: Codes
    texts: Rows
    """How many texts each cell has."""
    moves: Floats
    """The score after less the score before; NaN where there is none after."""
    of_row: Rows
    """The cell of each row; −1 for rows that are right and need no correction."""

    @property
    def flagged(self) -> Mask:
        """The cells whose texts each move the score by more than a point."""
        return np.abs(self.moves) > POINT

    @property
    def flagged_texts(self) -> int:
        """How many texts do so."""
        return int(self.texts[self.flagged].sum())

    @property
    def strongest(self) -> int | None:
        """The cell whose texts move the score furthest; None where no text moves it."""
        known = np.where(np.isnan(self.moves), 0.0, np.abs(self.moves))
        return int(known.argmax()) if known.any() else None


def influence(metric: Metric, gold: Codes, predicted: Codes, label_names: tuple[str, ...], way: str) -> Influence:
    """The influence of single texts on a metric of labels; `way` is removal or correction."""
    if way not in WAYS:
        raise UnknownNameError.of("way to look at influence", way, WAYS)
    if metric.of_counts is None:
        raise InputError(
            f"{metric.id} is not decided by labels alone", expected="accuracy, or a score such as f1.macro"
        )
    k = len(label_names)
    cells, of_row, texts = np.unique(
        np.asarray(gold, np.int64) * k + predicted, return_inverse=True, return_counts=True
    )
    of_gold, of_answer = np.divmod(cells, k)
    of_row = of_row.reshape(-1)
    if way == "correction":
        wrong = of_gold != of_answer
        of_row = np.where(wrong, np.cumsum(wrong) - 1, -1)[of_row]
        of_gold, of_answer, texts = of_gold[wrong], of_answer[wrong], texts[wrong]
    now = tally(gold, predicted, k)
    averaged = metric.weighting is not None and not metric.weighting.pooled
    after = (_averages if averaged else _any)(metric, now, of_gold, of_answer, label_names, way)
    return Influence(way, of_gold, of_answer, texts, after - float(metric.of_counts(now, label_names)), of_row)


def _averages(metric: Metric, now: Floats, gold: Codes, answer: Codes, names: tuple[str, ...], way: str) -> Floats:
    """An average over classes after one text of each cell has changed: only two of its terms are other scores."""
    assert metric.weighting is not None
    score, weigh = metric.id.partition(".")[0], metric.weighting
    scores, counts, after = class_scores(now, score), now[2], np.empty(len(gold))

    def moved_by(hits: int, predicted: int, rows: int) -> Floats:
        """By how much the score of each class moves when its tally does."""
        return class_scores(now + np.array([[hits], [predicted], [rows]]), score) - scores

    right, lost = moved_by(-1, -1, -1), moved_by(0, -1, 0)
    missed = moved_by(0, 0, -1) if way == "removal" else moved_by(1, 1, 0)
    for label in np.unique(gold):  # cells stand in the order of their gold labels
        cells = slice(*np.searchsorted(gold, [label, label + 1]))
        rows = counts - (np.arange(len(counts)) == label) * (way == "removal")
        weights, others = weigh.weights(rows, names), answer[cells]
        wrong = weights[label] * missed[label] + weights[others] * lost[others]
        moved = np.where(others == label, weights[label] * right[label], wrong)
        after[cells] = weigh.average(scores, rows, names) + moved
    return after


def _any(metric: Metric, now: Floats, gold: Codes, answer: Codes, names: tuple[str, ...], way: str) -> Floats:
    """Any metric of labels after one text of each cell has changed."""
    assert metric.of_counts is not None
    step = max(1, AT_ONCE // now.size)
    parts = [slice(start, start + step) for start in range(0, len(gold), step)]
    values = [metric.of_counts(_changed(now, gold[part], answer[part], way), names) for part in parts]
    return np.concatenate([np.empty(0), *values])


def _changed(now: Floats, gold: Codes, predicted: Codes, way: str) -> Floats:
    """The tallies [cells, 3, k] (see `f_scores`) with one text of each cell gone, or right."""
    after = np.tile(now, (len(gold), 1, 1))
    cell = np.arange(len(gold))
    after[cell, 1, predicted] -= 1
    if way == "correction":
        after[cell, 0, gold] += 1
        after[cell, 1, gold] += 1
    else:
        after[cell, 2, gold] -= 1
        after[cell, 0, gold] -= gold == predicted
    return after
