"""Tables of results that anybody printed, linted or recomputed: findings, gates and a verdict, as of every run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unseen.evaluation.gates import Gate, judged, parsed_gates
from unseen.reports.formats import Table
from unseen.reports.page import Page, Verdict, sorted_findings, worst_level
from unseen.reports.record import RunRecord
from unseen.result_tables import read_all_tables
from unseen.result_tables.lint import lint_tables
from unseen.result_tables.table_audit import audit_tables
from unseen.runs.frame import Result
from unseen.types import Finding

NO_ERRORS = ("findings.fail<=0",)
LEVEL_NAMES = {"fail": "error", "warn": "warning"}


def lint_results(
    paths: Sequence[str | Path], *, skip: Sequence[str] = (), gates: Sequence[Gate | str] = NO_ERRORS
) -> Result:
    """What a careful reader would ask about the tables in these files and folders; nothing is written."""
    tables = read_all_tables(paths)
    return _result("lint", len(tables), lint_tables(tables, skip), gates)


def recompute_tables(
    paths: Sequence[str | Path], *, relations: str | Path | None = None, gates: Sequence[Gate | str] = NO_ERRORS
) -> Result:
    """What in these tables cannot follow from their other numbers; `relations` says how they hang together."""
    tables = read_all_tables(paths)
    return _result("table-audit", len(tables), audit_tables(tables, relations), gates)


def _result(kind: str, tables: int, findings: Sequence[Finding], gates: Sequence[Gate | str]) -> Result:
    findings = sorted_findings(findings)
    bounds = parsed_gates(gates)
    counts = [
        f"{count} {name}{'' if count == 1 else 's'}"
        for level, name in LEVEL_NAMES.items()
        if (count := sum(finding.level == level for finding in findings))
    ]
    level = worst_level([finding for finding in findings if finding.level != "skipped"]) if counts else "ok"
    checked = f"{tables} table{'' if tables == 1 else 's'}"
    headline = f"{', '.join(counts) if counts else 'Nothing wrong was found'} in {checked}."
    verdict = Verdict(headline, [], level)
    grave = [finding for finding in findings if finding.level in LEVEL_NAMES]
    lines = tuple(
        (finding.check, text, row)
        for finding in grave
        for text, row in zip(finding.evidence, finding.rows, strict=True)
    )
    places = Table("Where", ("rule", "what stands there", "where"), lines)
    page = Page(kind, f"Tables of results, {kind}", verdict, tables={"places": places})
    record = RunRecord({"kind": kind}, (), tuple(findings))
    return Result(kind, verdict, record, page, tuple(judged(bounds, (), findings)))
