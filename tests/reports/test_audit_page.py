"""The page of an audit: the gravest first, and what was looked for where."""

from __future__ import annotations

from pathlib import Path

import pytest
from kind_folders import audit

from unseen.runs.frame import report


@pytest.mark.parametrize("kind", ["audit", "pipeline-audit"])
def test_the_gravest_finding_is_the_verdict(kind: str, tmp_path: Path) -> None:
    result = report(audit(tmp_path, "posts", kind))
    assert (result.verdict.level, result.verdict.badge) == ("fail", "not sound")
    proven = ["1 experiment proves that test rows are used."] if kind == "pipeline-audit" else []
    assert result.verdict.lines() == [
        "posts is fail",
        "3 checks were made, of which 1 passed; 1 could not be made.",
        *proven,
    ]
    assert [finding.level for finding in result.findings] == ["fail", "warn", "ok", "skipped"]
    assert [*result.tables] == ["leaks", "baselines", "authors"]
    assert result.page.title == ("posts on posts, split posts" if kind == "pipeline-audit" else "posts, split posts")


def test_columns_and_thresholds_are_said(tmp_path: Path) -> None:
    page = report(audit(tmp_path, "posts")).report
    assert page is not None
    content = page.read_text(encoding="utf-8")
    assert "Near-duplicates have at least 0.8 of their 5-character pieces in common" in content
    assert "a cosine of at least 0.95. Columns: author posts." in content
