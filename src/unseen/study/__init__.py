"""Studies: whole jobs made of the verbs, in folders, resumable."""

from unseen.study.job import Plan, Stress, plan, stress
from unseen.study.settings import BUDGETS, Settings

__all__ = ["BUDGETS", "Plan", "Settings", "Stress", "plan", "stress"]
