"""A run, or the change between two, as Markdown for the page of a build: the summary of a step."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from unseen.evaluation.gates import GateOutcome
from unseen.reports import comparison_text
from unseen.reports.comparison import Comparison
from unseen.reports.formats import Table, to_markdown
from unseen.reports.junit import JudgedRun
from unseen.reports.markdown import escaped
from unseen.reports.page import BADGES
from unseen.store import write_text

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable that names the file to which every command of a step adds what the page of the build shows."""
LONGEST = 60
"""Rows of a table that are shown; a build has room for a megabyte."""


def summary(run: JudgedRun) -> str:
    """Verdict, gates, findings to look at, failed steps and tables of a run of any kind."""
    verdict, page = run.verdict, run.page
    badge = verdict.badge or BADGES[verdict.level]
    grave = [finding for finding in run.findings if finding.level in ("fail", "warn")]
    listed = tuple((BADGES[finding.level], finding.check, finding.message, finding.advice) for finding in grave)
    failed = tuple((step, message.partition("\n")[0]) for step, message in run.failures.items())
    parts = [
        f"### {escaped(page.title)}: {escaped(badge)}",
        *_lines([verdict.headline, *verdict.sentences]),
        *_listed("What to do:", map(str, verdict.actions), "1."),
        *_gates(run.gates),
        *_shown(Table("Findings", ("level", "check", "what was found", "what to do"), listed)),
        *_shown(Table("Steps that failed", ("step", "message"), failed)),
        *(part for table in page.brief for part in _shown(table)),
    ]
    return "\n\n".join(parts) + "\n"


def summary_of_comparison(comparison: Comparison, gates: Sequence[GateOutcome] = ()) -> str:
    """What changed against a baseline run, with its interval, what may mislead, and what was set otherwise."""
    differences = comparison_text.differences_table(comparison)
    parts = [
        f"### From {escaped(comparison.a)} (A) to {escaped(comparison.b)} (B)",
        escaped(differences.note),
        *_gates(gates),
        *_shown(Table(differences.title, differences.columns, differences.rows)),
        *_shown(comparison_text.falls_table(comparison)),
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
