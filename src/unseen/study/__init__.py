"""Studies: whole jobs made of the verbs, in folders, resumable."""

from unseen.study.definition import Study
from unseen.study.file import read_study
from unseen.study.folder import OtherRunError
from unseen.study.job import Plan, Stress, plan, stress
from unseen.study.run import Ran, StudyPlan, plan_study, run_study
from unseen.study.settings import BUDGETS, Settings

__all__ = [
    "BUDGETS",
    "OtherRunError",
    "Plan",
    "Ran",
    "Settings",
    "Stress",
    "Study",
    "StudyPlan",
    "plan",
    "plan_study",
    "read_study",
    "run_study",
    "stress",
]
