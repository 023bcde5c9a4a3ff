"""Every check of a subject, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unseen.audits.checks import CHECKS
from unseen.audits.findings import CheckResult
from unseen.audits.subject import GROUPINGS, LIKENESSES, Leak, Subject, leak
from unseen.errors import InputError
from unseen.progress import track
from unseen.types import Finding, Measurement, located


@dataclass(frozen=True)
class Audit:
    """What was found; what could not be checked or tried is there as skipped."""

    findings: tuple[Finding, ...]
    measurements: tuple[Measurement, ...]
    leaks: tuple[Leak, ...] = ()
    """Of a split, by kind: those that concern a test row."""

    @property
    def passed(self) -> bool:
        """Whether nothing failed. What was skipped does not count: read why it was."""
        return all(finding.level != "fail" for finding in self.findings)


def audit(subject: Subject, checks: Sequence[str] | None = None) -> Audit:
    """Make all checks, or those named: ours, or `package.module:function` of data and split.

    What cannot be checked is a finding too, skipped, with the reason.
    """
    names = list(CHECKS) if checks is None else list(checks)
    functions = {name: CHECKS.get(name) for name in names}  # a wrong name is seen before the work begins
    measurements: list[Measurement] = []
    findings: list[Finding] = []
    for name, check in track(functions.items(), "checks", len(functions)):
        rows, checked = _result(name, check, subject)
        measurements += rows
        findings += checked
    leaks = [leak(subject, kind) for kind in (*LIKENESSES, *GROUPINGS) if kind in subject.known]
    return Audit(tuple(located(findings, subject.data)), tuple(measurements), tuple(filter(None, leaks)))


def _result(name: str, check: object, subject: Subject) -> CheckResult:
    if not callable(check):
        raise InputError(f"the check {name!r} cannot be called", got=type(check).__name__)
    if ":" not in name:
        result: CheckResult = check(subject)
        return result
    try:
        findings = list(check(subject.data, subject.split))
    except Exception as cause:
        raise InputError(f"the check {name!r} failed: {type(cause).__name__}: {cause}") from cause
    wrong = [finding for finding in findings if not isinstance(finding, Finding)]
    if wrong:
        raise InputError(f"the check {name!r} gives other things than findings", got=type(wrong[0]).__name__)
    return [], findings
