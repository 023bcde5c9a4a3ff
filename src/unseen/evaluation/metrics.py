"""Metrics with a full identity: score, averaging, class. A bare "f1" is refused.

`f1.macro`, `precision.micro`, `recall.dodrans(exclude=none)`, … average over classes (see `weighting`); `f1[hate]`,
`average_precision[hate]` are about one label. `metric(id)` gives the function and its facts: direction and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.f_scores import SCORES, class_scores, tally
from unseen.evaluation.probability_scores import (
    aucs,
    average_precisions,
    calibration_errors,
    log_losses,
    mean_auc,
    squared_distances,
)
from unseen.evaluation.weighting import FORMS, PLAIN, Weighting
from unseen.types.arrays import Codes, Floats

OfCounts = Callable[[Floats, Sequence[str]], Floats]
OfWeights = Callable[[Codes, Floats, Sequence[str]], Callable[[Floats], Floats]]
BY_LABEL = (*SCORES, "roc_auc", "average_precision")
"""Metrics that each label has."""
OF_LABEL = re.compile(r"^(?P<score>[a-z_0-9]+)\[(?P<label>.+)\]$")
PARAMETERS = r"\.(?P<scheme>\w+)\((?P<inside>.*)\)"
WEIGHTED = re.compile(rf"(?P<score>{'|'.join(SCORES)}){PARAMETERS}", re.DOTALL)
"""An average whose weighting has parameters: `f1.macro(exclude=none)`."""
WITHIN_NAME = re.compile(rf"(?:^|(?<=\.))(?:{'|'.join(SCORES)}|pass_rate){PARAMETERS}$", re.DOTALL)
"""The same, or a pass rate over weighted functionalities, perhaps behind other words: `fall.f1.macro(exclude=none)`."""


@dataclass(frozen=True)
class Metric:
    """A number made from gold classes and probabilities, and what is known about such numbers.

    It is decided by tallies (`of_counts`) or by rows (`of_weights`): either gives it for many resamples at once.
    """

    id: str
    higher_is_better: bool = True
    low: float = 0.0
    high: float = 1.0
    of_counts: OfCounts | None = None
    """The number of each of many tallies [..., 3, k] (see `f_scores`), NaN where there is no value; None for metrics
    that need more than the predicted labels."""
    of_weights: OfWeights | None = None
    """The number with each row counted so often: of rows, a function of many weightings [draws, rows]. What does not
    depend on the weights is done once."""
    weighting: Weighting | None = None
    """How labels are weighted, where the metric is an average over them, or pools their counts."""

    def refuse_labels(self, label_names: Sequence[str]) -> None:
        """Refuse a name with a label that is none of these, before anything is trained."""
        if self.of_counts is not None:
            self.of_counts(np.zeros((3, len(label_names))), label_names)

    def __call__(self, gold: Codes, probabilities: Floats, label_names: Sequence[str]) -> float | None:
        """The value; None when the rows cannot give one, e.g. for lack of a class."""
        if not len(gold):
            return None
        if self.of_counts is not None:
            value = self.of_counts(tally(gold, probabilities.argmax(axis=1), len(label_names)), label_names)
        else:
            assert self.of_weights is not None
            (value,) = self.of_weights(gold, probabilities, label_names)(np.ones((1, len(gold))))
        return None if np.isnan(value) else float(value)


def metric(name: str) -> Metric:
    """The metric of that id."""
    if (known := find_metric(name)) is not None:
        return known
    if name in BY_LABEL:
        family = [known for known in METRICS if known.startswith(f"{name}.")]
        raise InputError(f"{name!r} does not say which", expected=f"one of {', '.join(family)}, or {name}[LABEL]")
    raise UnknownNameError.of("metric", name, METRICS, fix=f"or f1[LABEL], f1.{', f1.'.join(FORMS)}")


def find_metric(name: str) -> Metric | None:
    """The metric of that id; None for a name that is none, or does not say which."""
    if name in METRICS:
        return METRICS[name]
    match = OF_LABEL.match(name)
    if match and match["score"] in BY_LABEL:
        return _of_label(match["score"], match["label"])
    weighted = WEIGHTED.fullmatch(name)
    if weighted:
        return _averaged(weighted["score"], Weighting.parsed(weighted["scheme"], weighted["inside"]))
    return None


def canonical(name: str) -> str:
    """The name of a measurement with the metric in it as it is always written.

    >>> canonical("fall.f1.macro( exclude = b | a )"), canonical("pass_rate.power(.50)"), canonical("pass_rate")
    ('fall.f1.macro(exclude=a|b)', 'pass_rate.power(0.5)', 'pass_rate')
    """
    weighted = WITHIN_NAME.search(name)
    if weighted is None:
        return name
    return f"{name[: weighted.start('scheme')]}{Weighting.parsed(weighted['scheme'], weighted['inside'])}"


def without(name: str, labels: Sequence[str]) -> str:
    """The id of the metric without these labels, where it is an average over labels; else its own.

    >>> without("f1.macro", ["none"]), without("accuracy", ["none"])
    ('f1.macro(exclude=none)', 'accuracy')
    """
    chosen = metric(name)
    score, dot, _ = chosen.id.partition(".")
    if not labels or chosen.of_counts is None or chosen.weighting is None:
        return chosen.id
    return f"{score}{dot}{chosen.weighting.without(labels)}"


def chance(metric: Metric, gold: Codes, mix: Floats, label_names: Sequence[str]) -> float | None:
    """The score of somebody who has not read the texts: what guessing gives on `gold`.

    The guesser knows the class mix of the training part and draws labels from it, whatever the text. Scores of labels
    are those of the confusion counts this gives on average: accuracy is Σ gold share × mix, 1/k when both are even.
    Areas under ROC are ½, average precision is the share of the class; log loss and Brier score are those of answering
    the mix itself. None where the metric knows no such level (calibration error).
    """
    counts = np.bincount(gold, minlength=len(mix)).astype(np.float64)
    if metric.of_counts is not None:
        expected = float(metric.of_counts(np.array([counts * mix, counts.sum() * mix, counts]), label_names))
        return None if np.isnan(expected) else expected
    if metric.id.startswith("roc_auc"):
        return 0.5
    if metric.id.startswith("average_precision"):
        shares = dict(zip(label_names, counts / counts.sum(), strict=True))
        label = metric.id.partition("[")[2].removesuffix("]")
        return float(shares[label]) if label else float(np.mean(list(shares.values())))
    return None if metric.id.startswith("ece") else metric(gold, np.tile(mix, (len(gold), 1)), label_names)


def _of_label(score: str, label: str) -> Metric:
    def code(names: Sequence[str]) -> int:
        if label not in names:
            raise UnknownNameError.of("label", label, names)
        return list(names).index(label)

    def of_counts(tallies: Floats, names: Sequence[str]) -> Floats:
        own = tallies[..., code(names), None]
        return np.where(own[..., 2, 0] > 0, class_scores(own, score)[..., 0], np.nan)

    def of_weights(gold: Codes, probabilities: Floats, names: Sequence[str]) -> Callable[[Floats], Floats]:
        areas = aucs if score == "roc_auc" else average_precisions
        return partial(areas, gold == code(names), probabilities[:, code(names)])

    full = f"{score}[{label}]"
    return Metric(full, of_counts=of_counts) if score in SCORES else Metric(full, of_weights=of_weights)


def _averaged(score: str, weighting: Weighting) -> Metric:
    def of_counts(tallies: Floats, names: Sequence[str]) -> Floats:
        return weighting.averages(tallies, score, names)

    return Metric(f"{score}.{weighting}", of_counts=of_counts, weighting=weighting)


def _share_right(tallies: Floats, _: Sequence[str]) -> Floats:
    right, _, rows = (tallies[..., count, :].sum(axis=-1) for count in range(3))
    return np.where(rows > 0, right / np.maximum(rows, 1), np.nan)


def _mean_of_rows(name: str, losses: Callable[[Codes, Floats], Floats], high: float) -> Metric:
    """A metric that is the mean of a loss of each row."""

    def of_weights(gold: Codes, probabilities: Floats, _: Sequence[str]) -> Callable[[Floats], Floats]:
        of_rows = losses(gold, probabilities)
        return lambda weights: weights @ of_rows / weights.sum(axis=1)

    return Metric(name, higher_is_better=False, high=high, of_weights=of_weights)


def _mean_auc(name: str, one_vs_one: bool) -> Metric:
    """The mean AUC of more than two classes. Resampled ones are linear in the weights of rows, as DeLong has it: the
    exact ones of a thousand classes would take a thousand times as long.
    """

    def of_weights(gold: Codes, probabilities: Floats, _: Sequence[str]) -> Callable[[Floats], Floats]:
        value, influence = mean_auc(gold, probabilities, one_vs_one)
        return lambda weights: (np.nan if value is None else value) + weights @ influence

    return Metric(name, of_weights=of_weights)


def _two_classes(gold: Codes, probabilities: Floats, names: Sequence[str]) -> Callable[[Floats], Floats]:
    if len(names) != 2:
        raise InputError(
            "roc_auc.binary is for two labels", got=f"{len(names)} labels", fix="roc_auc.ovo or roc_auc.ovr"
        )
    return partial(aucs, gold == 1, probabilities[:, 1])


def _mean_precisions(gold: Codes, probabilities: Floats, names: Sequence[str]) -> Callable[[Floats], Floats]:
    def of_weights(weights: Floats) -> Floats:
        areas = [average_precisions(gold == code, probabilities[:, code], weights) for code in range(len(names))]
        return np.asarray(np.mean(areas, axis=0))

    return of_weights


METRICS: dict[str, Metric] = {
    one.id: one
    for one in (
        Metric("accuracy", of_counts=_share_right),
        *(_averaged(score, weighting) for score in SCORES for weighting in PLAIN.values()),
        Metric("roc_auc.binary", of_weights=_two_classes),
        _mean_auc("roc_auc.ovo", one_vs_one=True),
        _mean_auc("roc_auc.ovr", one_vs_one=False),
        Metric("average_precision.macro", of_weights=_mean_precisions, weighting=PLAIN["macro"]),
        _mean_of_rows("log_loss", log_losses, high=float("inf")),
        _mean_of_rows("brier", squared_distances, high=2.0),
        Metric("ece.15", higher_is_better=False, of_weights=lambda gold, p, _: partial(calibration_errors, gold, p)),
    )
}
"""Metrics by id. `roc_auc.binary` takes the second declared label as the positive one."""
