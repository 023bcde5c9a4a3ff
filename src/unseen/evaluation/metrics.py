"""Metrics with a full identity: score, averaging, class. A bare "f1" is refused.

`f1.macro`, `precision.micro`, `recall.dodrans`, … average over classes; `f1[hate]`, `average_precision[hate]`
are about one label. `metric(id)` gives the function and its facts: direction and bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.calibration import brier, expected_calibration_error, log_loss
from unseen.evaluation.f_scores import SCHEMES, SCORES, averages, class_scores, confusion
from unseen.evaluation.ranking import (
    auc,
    auc_one_vs_one,
    auc_one_vs_rest,
    aucs,
    aucs_one_vs_one,
    aucs_one_vs_rest,
    average_precision,
)

Codes = npt.NDArray[np.integer]
Floats = npt.NDArray[np.float64]
Compute = Callable[[Codes, Floats, Sequence[str]], float | None]
OfCounts = Callable[[Floats, Sequence[str]], Floats]
OfWeights = Callable[[Codes, Floats, Floats, Sequence[str]], Floats]
OF_LABEL = re.compile(r"^(?P<score>[a-z_0-9]+)\[(?P<label>.+)\]$")


@dataclass(frozen=True)
class Metric:
    """A number made from gold classes and probabilities, and what is known about such numbers."""

    id: str
    compute: Compute
    higher_is_better: bool = True
    low: float = 0.0
    high: float = 1.0
    of_counts: OfCounts | None = None
    """The same of many confusion matrices [..., gold, predicted] at once, NaN where there is no value; None for
    metrics that need more than the predicted labels."""
    of_weights: OfWeights | None = None
    """The same with each row counted so often, for many weightings [draws, rows] at once, where that was written."""
    scheme: str | None = None
    """How labels are weighted, where the metric is an average over them."""

    def __call__(self, gold: Codes, probabilities: Floats, label_names: Sequence[str]) -> float | None:
        """The value; None when the rows cannot give one, e.g. for lack of a class."""
        return self.compute(gold, probabilities, label_names) if len(gold) else None


def metric(name: str) -> Metric:
    """The metric of that id."""
    if name in METRICS:
        return METRICS[name]
    if name in (*SCORES, "roc_auc", "average_precision"):
        family = [each for each in METRICS if each.startswith(f"{name}.")]
        raise InputError(f"{name!r} does not say which", expected=f"one of {', '.join(family)}, or {name}[LABEL]")
    found = OF_LABEL.match(name)
    if found and found["score"] in (*SCORES, "roc_auc", "average_precision"):
        return _of_label(found["score"], found["label"])
    raise UnknownNameError.of("metric", name, METRICS, fix="or one of a label, e.g. f1[LABEL]")


def counted(name: str, of_counts: OfCounts, scheme: str | None = None) -> Metric:
    """A metric that the confusion counts decide; `scheme` weights the labels, where it is an average over them."""

    def compute(gold: Codes, probabilities: Floats, names: Sequence[str]) -> float | None:
        found = float(of_counts(confusion(gold, probabilities.argmax(axis=1), len(names)), names))
        return None if np.isnan(found) else found

    return Metric(name, compute, of_counts=of_counts, scheme=scheme)


def _of_label(score: str, label: str) -> Metric:
    def code(names: Sequence[str]) -> int:
        if label not in names:
            raise UnknownNameError.of("label", label, names)
        return list(names).index(label)

    def ranked(gold: Codes, probabilities: Floats, names: Sequence[str]) -> float | None:
        area = auc if score == "roc_auc" else average_precision
        return area(gold == code(names), probabilities[:, code(names)])

    def of_counts(matrices: Floats, names: Sequence[str]) -> Floats:
        rows = matrices[..., code(names), :].sum(axis=-1)
        return np.where(rows > 0, class_scores(matrices, score)[..., code(names)], np.nan)

    def of_weights(gold: Codes, probabilities: Floats, weights: Floats, names: Sequence[str]) -> Floats:
        return aucs(gold == code(names), probabilities[:, code(names)], weights)

    full = f"{score}[{label}]"
    if score in SCORES:
        return counted(full, of_counts)
    return Metric(full, ranked, of_weights=of_weights if score == "roc_auc" else None)


def _averaged(score: str, scheme: str) -> Metric:
    weights = None if scheme == "micro" else scheme
    return counted(f"{score}.{scheme}", lambda matrices, _: averages(matrices, scheme, score), weights)


def _share_right(matrices: Floats, _: Sequence[str]) -> Floats:
    rows = matrices.sum(axis=(-2, -1))
    right = np.trace(matrices, axis1=-2, axis2=-1)
    return np.where(rows > 0, right / np.maximum(rows, 1), np.nan)


def _two_classes(gold: Codes, probabilities: Floats, names: Sequence[str]) -> float | None:
    if len(names) != 2:
        raise InputError(
            "roc_auc.binary is for two labels", got=f"{len(names)} labels", fix="roc_auc.ovo or roc_auc.ovr"
        )
    return auc(gold == 1, probabilities[:, 1])


def _mean_precision(gold: Codes, probabilities: Floats, names: Sequence[str]) -> float | None:
    areas = [average_precision(gold == code, probabilities[:, code]) for code in range(len(names))]
    return None if None in areas else float(np.mean(np.array(areas, dtype=float)))


METRICS: dict[str, Metric] = {
    each.id: each
    for each in (
        counted("accuracy", _share_right),
        *(_averaged(score, scheme) for score in SCORES for scheme in SCHEMES),
        Metric("roc_auc.binary", _two_classes, of_weights=lambda gold, p, w, _: aucs(gold == 1, p[:, 1], w)),
        Metric(
            "roc_auc.ovo",
            lambda gold, p, _: auc_one_vs_one(gold, p),
            of_weights=lambda gold, p, w, _: aucs_one_vs_one(gold, p, w),
        ),
        Metric(
            "roc_auc.ovr",
            lambda gold, p, _: auc_one_vs_rest(gold, p),
            of_weights=lambda gold, p, w, _: aucs_one_vs_rest(gold, p, w),
        ),
        Metric("average_precision.macro", _mean_precision, scheme="macro"),
        Metric("log_loss", lambda gold, p, _: log_loss(gold, p), higher_is_better=False, high=float("inf")),
        Metric("brier", lambda gold, p, _: brier(gold, p), higher_is_better=False, high=2.0),
        Metric("ece.15", lambda gold, p, _: expected_calibration_error(gold, p, 15), higher_is_better=False),
    )
}
"""Metrics by id. `roc_auc.binary` takes the second declared label as the positive one."""
