"""The page of an audit: names that only are names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harmless import EVIL, assert_harmless

from unseen.errors import InputError
from unseen.reports.audit_page import write_audit_page
from unseen.store import write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement


def folder_of(folder: Path, name: str, kind: str) -> Path:
    rows = [
        Measurement(f"leaked.{name}", 0.1, 40, 0.05, 0.2),
        Measurement("f1.macro", 0.4, 40, tags={"baseline": name}),
        Measurement("authors.unknown", 0.1, 40, slice=f"label={name}"),
    ]
    write_measurements(rows, folder / "measurements.csv")
    found = [Finding(name, level, name, 1, (name,), name) for level in ("fail", "warn", "ok", "skipped")]
    write_findings(found, folder / "findings.csv")
    about: dict[str, Any] = {
        "kind": kind, "command": name, "data": {"name": name, "rows": 90, "counts": {name: 90}}, "pipeline": name,
        "split": {"name": name, "sizes": {name: 90}}, "columns": {name: name}, "versions": {name: name},
        "thresholds": {"near": 0.8, "semantic": 0.95}, "finished": "2026-11-01T00:00:00+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about)
    return folder


@pytest.mark.parametrize("kind", ["audit", "pipeline-audit"])
def test_nothing_in_a_run_becomes_markup(kind: str, tmp_path: Path) -> None:
    assert_harmless(write_audit_page(folder_of(tmp_path, EVIL, kind)))


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "check"})
    with pytest.raises(InputError, match="does not hold an audit"):
        write_audit_page(tmp_path)
