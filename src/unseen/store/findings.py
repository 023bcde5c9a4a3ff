"""Findings as one CSV: a row per finding."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from unseen.store.files import atomic, csv_rows, harmless, read_rows, unharmed
from unseen.types import Finding

COLUMNS = ["check", "level", "message", "count", "evidence", "advice"]


def write_findings(findings: Iterable[Finding], path: str | Path) -> Path:
    """Write one line per finding; the ids of its evidence are a JSON list."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS)
        for each in findings:
            evidence = json.dumps(list(each.evidence), ensure_ascii=False)
            write_row(
                [harmless(each.check), each.level, harmless(each.message), each.count, evidence, harmless(each.advice)]
            )
    return Path(path)


def read_findings(path: str | Path) -> list[Finding]:
    """The findings in `path`."""
    return read_rows(path, "findings", COLUMNS, _finding)


def _finding(line: dict[str, str]) -> Finding:
    evidence = json.loads(line["evidence"])
    if not isinstance(evidence, list) or not all(isinstance(each, str) for each in evidence):
        raise ValueError("evidence is not a JSON list of ids")
    check, message, advice = (unharmed(line[name]) for name in ("check", "message", "advice"))
    return Finding(check, line["level"], message, int(line["count"]), tuple(evidence), advice)
