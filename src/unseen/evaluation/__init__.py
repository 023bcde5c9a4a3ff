"""Evaluation: predictions to measurements."""

from unseen.evaluation.contrasts import compare, paired_over_rows
from unseen.evaluation.falls import OverSeeds, Run, fall, level, over_seeds
from unseen.evaluation.measurements import DEFAULT_METRICS, measure
from unseen.evaluation.metrics import METRICS, Metric, metric

__all__ = [
    "DEFAULT_METRICS",
    "METRICS",
    "Metric",
    "OverSeeds",
    "Run",
    "compare",
    "fall",
    "level",
    "measure",
    "metric",
    "over_seeds",
    "paired_over_rows",
]
