"""The gates and findings of a run as JUnit XML, which CI systems show test by test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from xml.etree import ElementTree

from unseen.evaluation.gates import GateOutcome
from unseen.reports.page import Page, Verdict
from unseen.reports.record import RunRecord
from unseen.types import Finding

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file may hold, however they are escaped."""


class JudgedRun(Protocol):
    """What came of a run, as `unseen.runs.frame.Result` says it."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def verdict(self) -> Verdict: ...  # noqa: D102
    @property
    def page(self) -> Page: ...  # noqa: D102
    @property
    def record(self) -> RunRecord: ...  # noqa: D102
    @property
    def gates(self) -> Sequence[GateOutcome]: ...  # noqa: D102
    @property
    def findings(self) -> Sequence[Finding]: ...  # noqa: D102
    @property
    def failures(self) -> Mapping[str, str]: ...  # noqa: D102


@dataclass(frozen=True)
class Judgement:
    """One test case of the file."""

    group: str
    name: str
    outcome: str = ""
    """failure, error or skipped; empty when it passed."""
    message: str = ""
    more: str = ""


def junit(result: JudgedRun) -> str:
    """A suite with a case for each gate, finding and failed step.

    A gate that is not kept is a failure, a step that was not done is an error: a build is red exactly where the
    command fails. Findings pass with their level and message as output, or are skipped; `findings.fail<=0` is the gate
    for those that must not fail, and audits have it unless told otherwise.
    """
    cases = list(_cases(result))
    outcomes = [case.outcome for case in cases]
    counts = {
        "tests": str(len(cases)), "failures": str(outcomes.count("failure")), "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")), "time": f"{result.record.seconds:.3f}",
    }  # fmt: skip
    name = f"unseen.{result.kind}"
    root = ElementTree.Element("testsuites", {"name": "unseen", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": name, **counts})
    if finished := result.record.about.get("finished"):
        suite.set("timestamp", _clean(str(finished)))
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("level", result.verdict.level), ("verdict", result.verdict.headline)):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _clean(value)})
    for case in cases:
        place = {"classname": f"{name}.{case.group}", "name": _clean(case.name)}
        element = ElementTree.SubElement(suite, "testcase", place)
        if case.outcome:
            outcome = ElementTree.SubElement(element, case.outcome, {"message": _clean(case.message)})
            outcome.text = _clean(case.more)
            if case.outcome != "skipped":
                outcome.set("type", case.group)
        elif case.message:
            ElementTree.SubElement(element, "system-out").text = _clean(f"{case.message}\n{case.more}".strip())
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _cases(result: JudgedRun) -> Iterator[Judgement]:
    for gate in result.gates:
        name = f"{gate.gate} ({gate.place})" if gate.place else gate.gate
        yield Judgement("gates", name, "" if gate.passed else "failure", str(gate))
    for finding in result.findings:
        outcome = "skipped" if finding.level == "skipped" else ""
        evidence = f"rows: {', '.join(finding.shown)}" if finding.evidence else ""
        more = "\n".join(filter(None, [finding.advice, evidence]))
        message = finding.message if outcome else f"{finding.level}: {finding.message}"
        yield Judgement("findings", finding.check, outcome, message, more)
    for step, message in result.failures.items():
        yield Judgement("steps", step, "error", message.partition("\n")[0], message)


def _clean(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)
