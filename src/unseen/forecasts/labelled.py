"""Scores of a model on texts of which a few are labelled: intervals that hold whatever the model is worth.

::

    what it says about every text, and the labels of some
      -> tallies of each stratum (hits, predicted, gold per class), from its labelled texts
      -> moved by what the model expects of all texts less what it expects of the labelled ones    (prediction-powered)
      -> any metric that tallies decide, with the variance of its linear approximation

The model's own expectation makes the interval narrower where it is worth something, and cannot make it wrong: it enters
as a difference of two means of the same thing, whose expectation is zero. How far it enters is tuned (Angelopoulos et
al. 2023, PPI++). The score is that of these texts; the labels are a random sample of each stratum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.intervals import Spread, wilson, within
from unseen.evaluation.metrics import Metric
from unseen.evaluation.strata import Strata, joined_strata, slope_of
from unseen.types.arrays import Codes, Floats, Mask

UNLABELLED = -1
FEWEST = 5
"""Right answers of a class among the labelled texts that its score needs for an interval, as does an average over
classes of each: with fewer it hangs on single texts, and intervals hold too seldom."""


@dataclass(frozen=True)
class LabelledScore:
    """A score with its 95 % interval, and what it rests on; nothing is open where every text is labelled."""

    value: float | None
    low: float | None
    high: float | None
    labels: int
    """Labelled texts."""
    texts: int
    trust: float
    """How far the model's own expectation enters, from 0 to 1."""
    why: str = ""
    """Why there is no interval."""

    @property
    def width(self) -> float | None:
        """Half of the interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def labels_for(self, width: float) -> int | None:
        """About how many labels an interval of ± `width` needs in all; None where nothing is known of it."""
        if self.width is None:
            return None
        return min(self.texts, max(self.labels, int(np.ceil(self.labels * (self.width / width) ** 2))))


@dataclass(frozen=True, eq=False)
class PartlyLabelled:
    """What a model says about every text of a target, and the labels of some."""

    probabilities: Floats
    """[texts, classes]"""
    strata: Codes
    """Of each text; the labels are a random sample of each."""
    labels: Codes
    """Of each text; `UNLABELLED` where nobody has looked."""

    def __post_init__(self) -> None:
        if not len(self.probabilities) == len(self.strata) == len(self.labels):
            raise InputError("every text needs probabilities, a stratum and a label or none")
        if not self.known.any():
            raise InputError("no text is labelled", fix="label some, or ask for a forecast without labels")

    @cached_property
    def known(self) -> Mask:
        """Which texts are labelled."""
        return np.asarray(self.labels != UNLABELLED)

    @cached_property
    def groups(self) -> Codes:
        """The strata of each text, joined to their neighbours until each has two labelled texts."""
        return joined_strata(self.strata, self.known)

    def score(self, metric: Metric, label_names: Sequence[str], rows: Mask | None = None) -> LabelledScore:
        """The metric of all texts, or of those of a group, from the labelled ones among them."""
        if metric.of_counts is None:
            raise InputError(f"{metric.id} is not decided by labels alone", expected="accuracy, or an F-score")
        if rows is not None:
            if not (rows & self.known).any():
                return LabelledScore(None, None, None, 0, int(rows.sum()), 0.0, "none of these texts is labelled")
            some = PartlyLabelled(self.probabilities[rows], self.strata[rows], self.labels[rows])
            return some.score(metric, label_names)
        return _score(self, metric, label_names)

    def mean_of(self, values: Floats) -> tuple[float, Spread]:
        """The mean over all texts of what is known of the labelled ones, and how far chance moves it."""
        strata = Strata(self.groups, self.known)
        return float(strata.mean(values)), strata.spread(values)


def _score(texts: PartlyLabelled, metric: Metric, label_names: Sequence[str]) -> LabelledScore:
    known, k = texts.known, len(label_names)
    predicted = texts.probabilities.argmax(axis=1)
    strata = Strata(texts.groups, known)
    actual = _tallied(np.eye(k)[texts.labels[known]], predicted[known])
    foreseen = _tallied(texts.probabilities[known], predicted[known])
    moved = _foreseen_of_all(texts.probabilities, predicted) - strata.mean(foreseen)
    given = np.bincount(predicted, minlength=k) / len(predicted)  # known of all texts

    def metric_of(means: Floats) -> Floats:
        hits, gold = np.maximum(means[..., :k], 0.0), np.maximum(means[..., k:], 0.0)
        tallies = np.stack([hits, np.broadcast_to(given, hits.shape), gold], axis=-2)
        return metric.of_counts(tallies, label_names)  # type: ignore[misc]

    plain = strata.mean(actual)
    slope = slope_of(metric_of, plain)
    trust = strata.tuned(actual @ slope, foreseen @ slope)
    value = float(metric_of(plain + trust * moved))
    hits = np.bincount(predicted[known & (texts.labels == predicted)], minlength=k)
    why = _refusal(metric, hits, label_names)
    low, high = None, None
    if np.isnan(value):
        return LabelledScore(None, None, None, int(known.sum()), len(known), trust, "no labelled text is of the class")
    if known.all():
        return LabelledScore(value, value, value, len(known), len(known), trust)
    if not why:
        spread = strata.spread((actual - trust * foreseen) @ slope)
        low, high = within(value, spread, metric.low, metric.high)
        if low is None and metric.id == "accuracy":  # all are right, or all are wrong
            low, high = wilson(value * known.sum(), int(known.sum()))
        why = "" if low is not None else "the labelled texts are all alike"
    return LabelledScore(value, low, high, int(known.sum()), len(known), trust, why)


def _refusal(metric: Metric, hits: Codes, label_names: Sequence[str]) -> str:
    """Why no interval would hold; empty where one does."""
    of_label = [name for name in label_names if metric.id.endswith(f"[{name}]")]
    averaged = metric.weighting is not None and not metric.weighting.pooled
    excluded = metric.weighting.excluded if metric.weighting is not None else ()
    asked = of_label or [name for name in label_names if averaged and name not in excluded]
    few = [name for name in asked if hits[label_names.index(name)] < FEWEST]
    return f"fewer than {FEWEST} labelled texts are rightly called {', '.join(few)}" if few else ""


def _tallied(labels: Floats, predicted: Codes) -> Floats:
    """Hits and gold [texts, 2k] of texts whose label is `labels` [texts, k], or has these probabilities."""
    return np.concatenate([labels * np.eye(labels.shape[1])[predicted], labels], axis=1)


def _foreseen_of_all(probabilities: Floats, predicted: Codes) -> Floats:
    """The mean of `_tallied` over all texts, which may be many."""
    sure = probabilities[np.arange(len(predicted)), predicted]
    hits = np.bincount(predicted, weights=sure, minlength=probabilities.shape[1]) / len(predicted)
    return np.concatenate([hits, probabilities.mean(axis=0)])


def width_of(labels: int, score: float) -> float:
    """About how wide (±) an interval around this score is with so many labels."""
    return float(1.96 * (max(score * (1 - score), 0.05) / labels) ** 0.5)
