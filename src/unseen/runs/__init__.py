"""Studies: whole jobs made of the verbs, in folders, resumable."""

from unseen.runs.folder import OtherRunError
from unseen.runs.frame import Result
from unseen.runs.job import StressPlan, plan, stress
from unseen.runs.run import StudyPlan, plan_study, run_study
from unseen.runs.settings import BUDGETS, Settings
from unseen.runs.study_file import Study, read_study

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
