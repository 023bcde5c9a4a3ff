"""Validation studies: published experiments with their leaks, corrected, and on authors and data they never saw."""

from unseen.runs.validation.file import is_validation, read_validation
from unseen.runs.validation.study import plan_validation, run_validation

__all__ = ["is_validation", "plan_validation", "read_validation", "run_validation"]
