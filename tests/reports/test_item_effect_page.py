"""The page of what cleaning does: where intervals come from."""

from __future__ import annotations

from pathlib import Path

from kind_folders import item_effect

from unseen.runs.frame import report


def test_intervals_are_explained(tmp_path: Path) -> None:
    result = report(item_effect(tmp_path, "rule"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "interval draws texts and adds the spread between random removals" in page
    assert "a gain there alone says little" in page
    assert [*result.tables] == ["scores", "differences", "answers", "rules"]
    assert result.tables["differences"].rows == (
        ("macro F1", "flagged rows left out, less as many random rows left out", "all", "1.0 [−10, 10]"),
    )
