"""Learning from a suite: train on its cases, and see whether that helped or only passed the tests."""

from unseen.runs.learning.job import LearningPlan, learn_from_suite
from unseen.runs.learning.materials import CONFIGURATIONS

__all__ = ["CONFIGURATIONS", "LearningPlan", "learn_from_suite"]
