"""Explanations judged, as measurements: every method on every slice of the texts, beside its floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unseen.explanations.comparison import OfMeans, method_differences, method_means, only_column
from unseen.explanations.faithfulness import TOP, Faithfulness
from unseen.explanations.plausibility import Plausibility, f1_of_means
from unseen.types import Measurement
from unseen.types.arrays import Floats, Mask

FAITHFUL = {
    f"comprehensiveness.top{TOP}": "comprehensiveness",
    f"sufficiency.top{TOP}": "sufficiency",
    "comprehensiveness.aopc": "comprehensiveness_aopc",
    "sufficiency.aopc": "sufficiency_aopc",
    "comprehensiveness.normalised": "comprehensiveness_normalised",
    "sufficiency.normalised": "sufficiency_normalised",
    "tau.leave_one_out": "tau",
    "pearson.leave_one_out": "pearson",
    "top_unit.leave_one_out": "top_unit",
    "single_erasure_misleads": "misled",
}
"""Metrics of faithfulness, and where `Faithfulness` has them."""
COMPARED = ("comprehensiveness.aopc", "tau.leave_one_out", "auprc", "token_f1")
"""Metrics by which methods are compared two by two."""
FEWEST = 10
"""Texts of a slice, at least."""


class TextMetric(NamedTuple):
    """One number of several methods, text by text."""

    name: str
    of_methods: Mapping[str, Floats]
    """[texts] or [texts, columns], NaN where a text has none."""
    of_means: OfMeans = only_column


def faithfulness_metrics(judged: Mapping[str, Faithfulness]) -> list[TextMetric]:
    """The metrics of faithfulness that have a value, and the share of decisive units of the right sign."""
    metrics = [
        TextMetric(name, {method: getattr(one, attribute) for method, one in judged.items()})
        for name, attribute in FAITHFUL.items()
    ]
    signs = {method: np.column_stack([one.signs_right, one.signs_decided]) for method, one in judged.items()}
    metrics.append(TextMetric("sign.leave_one_out", signs, share_of_sums))
    return [metric for metric in metrics if any(np.isfinite(values).any() for values in metric.of_methods.values())]


def share_of_sums(means: Floats) -> Floats:
    """The first column's part of the second."""
    return np.divide(means[..., 0], means[..., 1], out=np.full(means.shape[:-1], np.nan), where=means[..., 1] > 0)


def plausibility_metrics(judged: Mapping[str, Plausibility]) -> list[TextMetric]:
    """Token F1, IoU F1 in both versions, and AUPRC."""
    return [
        TextMetric("token_f1", {name: one.token_f1 for name, one in judged.items()}),
        TextMetric("iou_f1.merged", {name: one.merged for name, one in judged.items()}, f1_of_means),
        TextMetric("iou_f1.released", {name: one.released for name, one in judged.items()}, f1_of_means),
        TextMetric("auprc", {name: one.auprc for name, one in judged.items()}),
    ]


def measured(
    metrics: Sequence[TextMetric],
    slices: Mapping[str, Mask],
    *,
    tags: Mapping[str, str] | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """Each metric of each method on all texts and on every slice of at least `FEWEST`; on all, methods two by two."""
    rows: list[Measurement] = []
    for metric in metrics:
        for name, inside in slices.items():
            if inside.sum() < FEWEST and name != "all":
                continue
            some = {method: values[inside] for method, values in metric.of_methods.items()}
            rows += [
                replace(row, slice=name, tags={**row.tags, **(tags or {})})
                for row in method_means(metric.name, some, metric.of_means, seed=seed)
            ]
        if metric.name in COMPARED:
            rows += [
                replace(row, tags={**row.tags, **(tags or {})})
                for row in method_differences(metric.name, metric.of_methods, metric.of_means, seed=seed)
            ]
    return rows


def wrong_reasons(gold: Sequence[Mask], scores: Mapping[str, Sequence[Floats]], right: Mask) -> TextMetric:
    """Of right answers the share whose top units are none that people highlighted: right for the wrong reason."""
    of_methods = {}
    for method, of_texts in scores.items():
        missed = [
            not mask[np.argsort(-values, kind="stable")[:TOP]].any()
            for mask, values in zip(gold, of_texts, strict=True)
        ]
        counts = right & np.array([mask.any() for mask in gold])
        of_methods[method] = np.where(counts, missed, np.nan)
    return TextMetric("right_for_the_wrong_reason", of_methods)
