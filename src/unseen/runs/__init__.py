"""Whole runs made of the verbs, in folders, resumable; each kind in a module of its own. Study files are here too."""

from unseen.runs.frame import Result
from unseen.runs.study import StudyPlan, plan_study, run_study
from unseen.runs.study_file import Study, read_study
from unseen.store.run_folder import OtherRunError

__all__ = [
    "OtherRunError",
    "Result",
    "Study",
    "StudyPlan",
    "plan_study",
    "read_study",
    "run_study",
]
