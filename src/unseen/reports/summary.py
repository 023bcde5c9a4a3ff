"""What CI systems show of a run: gates and findings as JUnit XML, test by test, and the whole as Markdown.

The Markdown is for the page of a build, the summary of a step; it also tells the change between two runs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

from unseen.evaluation.gates import GateOutcome
from unseen.reports import comparison_text
from unseen.reports.comparison import Comparison
from unseen.reports.formats import Table, escaped, to_markdown
from unseen.reports.page import BADGES, Page, Verdict
from unseen.reports.record import RunRecord
from unseen.store import write_text
from unseen.types import Finding

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file may hold, however they are escaped."""
COUNTED = {
    "tests": "testcase", "failures": "testcase/failure", "errors": "testcase/error", "skipped": "testcase/skipped",
}  # fmt: skip
"""What a suite of JUnit counts, and where it stands."""
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which every command of a step adds what the page of the build shows."""
LONGEST = 60
"""Rows of a table that are shown; a build has room for a megabyte."""


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


def junit(result: JudgedRun) -> str:
    """A suite with a case for each gate, finding and failed step.

    A gate that is not kept is a failure, a step that was not done is an error: a build is red exactly where the
    command fails. Findings pass with their level and message as output, or are skipped; `findings.fail<=0` is the gate
    for those that must not fail, and audits have it unless told otherwise.
    """
    root = ElementTree.Element("testsuites", {"name": "unseen"})
    suite = ElementTree.SubElement(root, "testsuite", {"name": f"unseen.{result.kind}"})
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in (("level", result.verdict.level), ("verdict", result.verdict.headline)):
        ElementTree.SubElement(properties, "property", {"name": key, "value": _clean(value)})
    for gate in result.gates:
        name = f"{gate.gate} ({gate.place})" if gate.place else gate.gate
        _add_case(suite, "gates", name, "" if gate.passed else "failure", str(gate))
    for finding in result.findings:
        outcome = "skipped" if finding.level == "skipped" else ""
        evidence = f"rows: {', '.join(finding.shown)}" if finding.evidence else ""
        more = "\n".join(filter(None, [finding.advice, evidence]))
        message = finding.message if outcome else f"{finding.level}: {finding.message}"
        _add_case(suite, "findings", finding.check, outcome, message, more)
    for step, message in result.failures.items():
        _add_case(suite, "steps", step, "error", message.partition("\n")[0], message)
    for element in (root, suite):
        for name, path in COUNTED.items():
            element.set(name, str(len(suite.findall(path))))
        element.set("time", f"{result.record.seconds:.3f}")
    if finished := result.record.about.get("finished"):
        suite.set("timestamp", _clean(str(finished)))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, group: str, name: str, outcome: str, message: str, more: str = "") -> None:
    """Add a test case; `outcome` is failure, error or skipped, and empty when it passed."""
    case = ElementTree.SubElement(
        suite, "testcase", {"classname": f"{suite.get('name')}.{group}", "name": _clean(name)}
    )
    if outcome:
        element = ElementTree.SubElement(case, outcome, {"message": _clean(message)})
        element.text = _clean(more)
        if outcome != "skipped":
            element.set("type", group)
    elif message:
        ElementTree.SubElement(case, "system-out").text = _clean(f"{message}\n{more}".strip())


def _clean(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)


def summary(run: JudgedRun) -> str:
    """Verdict, gates, findings to look at, failed steps and tables of a run of any kind."""
    verdict, page = run.verdict, run.page
    badge = verdict.badge or BADGES[verdict.level]
    grave = [finding for finding in run.findings if finding.level in ("fail", "warn")]
    listed = tuple((BADGES[finding.level], finding.check, finding.message, finding.advice) for finding in grave)
    findings = Table("Findings", ("level", "check", "what was found", "what to do"), listed)
    tables = [table for table in page.brief if table.title != findings.title] or [*page.tables.values()][:1]
    failed = tuple((step, message.partition("\n")[0]) for step, message in run.failures.items())
    parts = [
        f"### {escaped(page.title)}: {escaped(badge)}",
        *_lines([verdict.headline, *verdict.sentences]),
        *_listed("What to do:", map(str, verdict.actions), "1."),
        *_gates(run.gates),
        *_shown(findings),
        *_shown(Table("Steps that failed", ("step", "message"), failed)),
        *(part for table in tables for part in _shown(table)),
    ]
    return "\n\n".join(parts) + "\n"


def summary_of_comparison(comparison: Comparison, gates: Sequence[GateOutcome] = ()) -> str:
    """What changed against a baseline run, with its interval, what may mislead, and what was set otherwise."""
    headline = comparison_text.headline(comparison)
    tables = [
        replace(table, note="") if table.note == headline else table for table in comparison_text.tables(comparison)
    ]
    parts = [
        f"### From {escaped(comparison.a)} (A) to {escaped(comparison.b)} (B)",
        escaped(headline),
        *_gates(gates),
        *(shown for table in tables for shown in _shown(table)),
        *_lines([*comparison_text.remarks(comparison), *comparison_text.warnings(comparison)]),
        *_listed("What is not the same:", comparison_text.changes(comparison), "-"),
    ]
    return "\n\n".join(parts) + "\n"


def write_summary(path: Path, text: str) -> None:
    """Write the file; the one that `GITHUB_STEP_SUMMARY` names belongs to all commands of a step and is added to."""
    if os.environ.get(STEP_SUMMARY) != str(path):
        write_text(path, text)
        return
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def _gates(outcomes: Sequence[GateOutcome]) -> list[str]:
    rows = tuple((outcome.outcome, outcome.gate, outcome.place, outcome.measured) for outcome in outcomes)
    return _shown(Table("Gates", ("outcome", "gate", "where", "measured"), rows))


def _shown(table: Table) -> list[str]:
    """A table with as many rows as fit; none without rows."""
    if not table.rows:
        return []
    more = len(table.rows) - LONGEST
    note = " ".join(filter(None, [table.note, f"And {more:,} rows more." if more > 0 else ""]))
    return [to_markdown(Table(table.title, table.columns, table.rows[:LONGEST], note)).rstrip()]


def _lines(sentences: Iterable[str]) -> list[str]:
    return [str(escaped(sentence)) for sentence in sentences]


def _listed(heading: str, items: Iterable[str], mark: str) -> list[str]:
    lines = [f"{mark} {escaped(item)}" for item in items]
    return ["\n".join([heading, "", *lines])] if lines else []
