"""The page of what cleaning does: where intervals come from, and names that only are names."""

from __future__ import annotations

from pathlib import Path

import pytest
from harmless import EVIL, assert_harmless

from unseen.errors import InputError
from unseen.reports.item_effect_page import CLEANED, write_item_effect_page
from unseen.store import write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement


def folder_of(folder: Path, name: str) -> Path:
    rows = [
        Measurement(metric, 0.5, 40, tags={"train": train, "test": test})
        for metric in ("f1.macro", "identical_answers", "largest_predicted_class")
        for train in CLEANED
        for test in ("original", "cleaned")
    ]
    gain = {"train": "cleaned", "than": "random", "test": "original"}
    rows.append(Measurement("gain.f1.macro", 0.01, 40, -0.1, 0.1, tags=gain))
    rows.append(Measurement("rule_coverage", 0.1, 40, tags={"rule": name}))
    write_measurements(rows, folder / "measurements.csv")
    found = [
        Finding("items.effect[original]", "ok", f"{name} does little."),
        Finding(name, "warn", name, 1, (name,), name),
    ]
    write_findings(found, folder / "findings.csv")
    about = {
        "kind": "item-effect", "command": name, "data": {"name": name, "rows": 90}, "versions": {name: name},
        "settings": {"model": name, "packs": [name], "threshold": 1, "metrics": ["f1.macro"], "seeds": [1, 2]},
        "rules": {name: {"pack": name, "trait": name}}, "finished": "2026-11-01T00:00:00+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about)
    return folder


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    assert_harmless(write_item_effect_page(folder_of(tmp_path, EVIL)))


def test_examples_are_named_and_intervals_explained(tmp_path: Path) -> None:
    page = write_item_effect_page(folder_of(tmp_path, "row 1")).read_text(encoding="utf-8")
    assert "<code>row 1</code>" in page
    assert "interval draws texts and adds the spread between random removals" in page


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "check"})
    with pytest.raises(InputError, match="does not hold the effect of cleaning"):
        write_item_effect_page(tmp_path)
