"""Behaviour: suites of test cases, what a model passes of them, and how to write and to learn from them."""

from unseen.functional.pass_rates import check, compare_on_suite, outcomes
from unseen.functional.suite import as_suite, balanced
from unseen.functional.tables import load_suite

__all__ = ["as_suite", "balanced", "check", "compare_on_suite", "load_suite", "outcomes"]
