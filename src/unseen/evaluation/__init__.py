"""Evaluation: predictions to measurements."""

from unseen.evaluation.comparisons import compare, paired_over_examples
from unseen.evaluation.measuring import DEFAULT_METRICS, measure
from unseen.evaluation.metrics import METRICS, Metric, metric
from unseen.evaluation.runs import OverSeeds, Run, fall, level, over_seeds

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
    "paired_over_examples",
]
