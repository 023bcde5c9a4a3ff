"""Studies: whole jobs made of the verbs, in folders, resumable."""

from unseen.runs.definition import Study
from unseen.runs.file import read_study
from unseen.runs.folder import OtherRunError
from unseen.runs.frame import Result
from unseen.runs.job import StressPlan, plan, stress
from unseen.runs.run import StudyPlan, plan_study, run_study
from unseen.runs.settings import BUDGETS, Settings

__all__ = [
    "BUDGETS",
    "OtherRunError",
    "Result",
    "Settings",
    "StressPlan",
    "Study",
    "StudyPlan",
    "plan",
    "plan_study",
    "read_study",
    "run_study",
    "stress",
]
