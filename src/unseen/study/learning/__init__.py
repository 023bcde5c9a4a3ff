"""Learning from a suite: train on its cases, and see whether that helped or only passed the tests."""

from unseen.study.learning.job import Learned, LearningPlan, learn_from_suite
from unseen.study.learning.materials import CONFIGURATIONS

__all__ = ["CONFIGURATIONS", "Learned", "LearningPlan", "learn_from_suite"]
