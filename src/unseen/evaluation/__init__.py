"""Evaluation: predictions to measurements."""

from unseen.evaluation.measuring import DEFAULT_METRICS, measure
from unseen.evaluation.metrics import METRICS, Metric, metric

__all__ = ["DEFAULT_METRICS", "METRICS", "Metric", "measure", "metric"]
