"""The report of an audit, from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from unseen.errors import InputError
from unseen.reports.author_page import concentration_table
from unseen.reports.formats import Table
from unseen.reports.kinds import kind_of
from unseen.reports.pages import write_page
from unseen.reports.tables import sorted_findings
from unseen.reports.wording import number
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement

KINDS = ("audit", "pipeline-audit")
LEAKED = {
    "exact": "same text",
    "normalised": "same but for trifles",
    "near": "near-duplicate",
    "semantic": "same vector",
    "author": "same author",
    "conversation": "same conversation",
    "template": "same template",
    "partner": "contrast partner",
    "source": "same source",
    "original": "copy of the same item",
}


def write_audit_page(folder: str | Path) -> Path:
    """Write `report.html` of an audit; returns its path."""
    folder = Path(folder)
    if kind_of(folder) not in KINDS:
        raise InputError(f"{folder} does not hold an audit", fix="unseen audit --out writes one")
    findings = read_findings(folder / "findings.csv")
    rows = read_measurements(folder / "measurements.csv")
    about = read_about(folder)
    level, headline, rest = verdict(findings)
    tables = (leak_table(rows), baseline_table(rows), concentration_table(rows))
    return write_page(
        folder, "audit.html", about, level=level, headline=headline, rest=rest, findings=sorted_findings(findings),
        tables=[table for table in tables if table is not None and table.rows],
    )  # fmt: skip


def verdict(findings: Sequence[Finding]) -> tuple[str, str, str]:
    """The gravest level, the answer in a sentence, and how many checks it rests on."""
    counts = {level: sum(each.level == level for each in findings) for level in ("fail", "warn", "ok", "skipped")}
    made = len(findings) - counts["skipped"]
    rest = f"{counts['ok']} of {made} checks passed, {counts['skipped']} could not be made."
    if counts["fail"]:
        worst = next(each for each in findings if each.level == "fail")
        others = "" if counts["fail"] == 1 else f" {counts['fail'] - 1} more failed."
        return "fail", f"{worst.message}{others}", rest
    if counts["warn"]:
        return "warn", f"Nothing failed; {_checks(counts['warn'])} found something to look at.", rest
    return "ok", "No check found anything.", rest


def _checks(count: int) -> str:
    return f"{count} check" if count == 1 else f"{count} checks"


def leak_table(rows: Sequence[Measurement]) -> Table:
    """How much of the test part each kind of tie gives away."""
    found = [
        (LEAKED.get(kind, kind), round((row.value or 0) * row.n), row.n, number(row.value), _interval(row))
        for row in rows
        if (kind := row.metric.removeprefix("leaked.")) != row.metric and row.value is not None
    ]
    note = "Test rows that are tied to a training or development row."
    return Table(
        "Ties between test and training", ("tie", "test rows", "of", "share", "95 % interval"), tuple(found), note
    )


def baseline_table(rows: Sequence[Measurement]) -> Table:
    """What is scored without reading a text."""
    found = [
        (str(row.tags["baseline"]), row.metric, number(row.value), _interval(row))
        for row in rows
        if "baseline" in row.tags
    ]
    return Table("What needs no reading", ("what it knows", "metric", "score", "95 % interval"), tuple(found))


def _interval(row: Measurement) -> str:
    return "" if row.low is None or row.high is None else f"{number(row.low)} to {number(row.high)}"
