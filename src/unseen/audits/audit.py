"""Every check of a subject, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unseen.audits.checks import CHECKS
from unseen.audits.checks.judging import Found
from unseen.audits.leaks import Leak, leak
from unseen.audits.subject import GROUPINGS, LIKENESSES, Subject
from unseen.errors import InputError
from unseen.progress import track
from unseen.types import Finding, Measurement


@dataclass(frozen=True, eq=False)
class Audit:
    """What the checks found."""

    findings: tuple[Finding, ...]
    measurements: tuple[Measurement, ...]
    leaks: tuple[Leak, ...]
    """By kind, those that concern a test row."""


def audit(subject: Subject, checks: Sequence[str] | None = None) -> Audit:
    """Make all checks, or those named: ours, or `package.module:function` of data and split.

    What cannot be checked is a finding too, skipped, with the reason.
    """
    names = list(CHECKS) if checks is None else list(checks)
    made = {name: CHECKS.get(name) for name in names}  # a wrong name is seen before the work begins
    rows: list[Measurement] = []
    findings: list[Finding] = []
    for name, check in track(made.items(), "checks", len(made)):
        some, found = _asked(name, check, subject)
        rows += some
        findings += found
    leaks = [leak(subject, kind) for kind in (*LIKENESSES, *GROUPINGS) if kind in subject.known]
    return Audit(tuple(findings), tuple(rows), tuple(each for each in leaks if each))


def _asked(name: str, check: object, subject: Subject) -> Found:
    if not callable(check):
        raise InputError(f"the check {name!r} cannot be called", got=type(check).__name__)
    if ":" not in name:
        found: Found = check(subject)
        return found
    try:
        given = list(check(subject.data, subject.split))
    except Exception as cause:
        raise InputError(f"the check {name!r} failed: {type(cause).__name__}: {cause}") from cause
    wrong = [each for each in given if not isinstance(each, Finding)]
    if wrong:
        raise InputError(f"the check {name!r} gives other things than findings", got=type(wrong[0]).__name__)
    return [], given
