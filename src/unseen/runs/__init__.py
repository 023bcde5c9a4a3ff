"""Whole runs made of the verbs, in folders, resumable; each kind in a module of its own. Study files are here too."""

from unseen.runs.definition import Study
from unseen.runs.file import read_study
from unseen.runs.folder import OtherRunError
from unseen.runs.frame import Result
from unseen.runs.run import StudyPlan, plan_study, run_study

__all__ = [
    "OtherRunError",
    "Result",
    "Study",
    "StudyPlan",
    "plan_study",
    "read_study",
    "run_study",
]
