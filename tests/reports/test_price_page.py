"""The page of a price: both tables, and names that only are names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harmless import EVIL, assert_harmless

from unseen.errors import InputError
from unseen.reports.price_page import on_test, on_train, write_price_page
from unseen.store import write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement

METRIC = "f1.macro"


def measured(kind: str, **tags: Any) -> list[Measurement]:
    """A leak that pays on both sides; `tags` are those of the train side's price."""
    rows = [Measurement("leaked_rows", 7, 50, tags={"leak": kind, "side": side}) for side in ("test", "train")]
    for name, value in (("all", 0.8), ("leaked", 1.0), ("unleaked", 0.7), ("random", 0.8)):
        rows.append(Measurement(METRIC, value, 50, tags={"leak": kind, "side": "test", "rows": name}))
    test, train = ({"leak": kind, "side": side, "rows": "all"} for side in ("test", "train"))
    rows += [Measurement(METRIC, value, 50, tags={**train, "removed": removed})
             for removed, value in (("random", 0.8), ("leaked", 0.75))]  # fmt: skip
    return [
        *rows, Measurement(f"price.{METRIC}", 0.1, 50, 0.05, 0.15, tags={**test, "p": 0.02}),
        Measurement(f"price.{METRIC}", 0.05, 50, 0.01, 0.09, tags={**train, **tags}),
    ]  # fmt: skip


def folder_of(folder: Path, name: str) -> Path:
    write_measurements(measured(name, p=0.25), folder / "measurements.csv")
    write_findings([Finding(f"price.{name}", "fail", f"{name} pays.", 7, (name,), name)], folder / "findings.csv")
    about = {
        "kind": "price", "command": name, "data": {"name": name, "rows": 100},
        "settings": {"metric": METRIC, name: name},
        "split": {"name": name, "sizes": {"train": 50, "test": 50}}, "versions": {name: name}, "finished": "2026-11-01",
    }  # fmt: skip
    write_json(folder / "run.json", about)
    return folder


def test_the_share_of_removals_that_are_as_far_is_shown_where_it_is_known() -> None:
    with_p, without = (on_train(measured("exact", **tags), METRIC) for tags in ({"p": 0.25}, {}))
    assert with_p is not None
    assert without is not None
    line = ("exact", 7, "all test rows", ".80", ".75", "5.0 [1.0, 9.0]")
    assert with_p.rows == ((*line, "25 %"),)
    assert with_p.columns[-1] == "by chance"
    assert without.rows == (line,)
    assert len(without.columns) == len(line)
    for table in (with_p, without):
        assert "Intervals draw test rows and add the spread between random removals" in table.note
    tested = on_test(measured("exact"), METRIC)
    assert tested is not None
    assert tested.rows[0][-1] == "2 %"


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    page = write_price_page(folder_of(tmp_path, EVIL))
    assert_harmless(page)
    assert {each.name for each in (tmp_path / "tables").iterdir()} == {
        f"{side}-side.{suffix}" for side in ("test", "train") for suffix in ("csv", "md", "tex")
    }


def test_examples_are_named(tmp_path: Path) -> None:
    assert "<code>row 1</code>" in write_price_page(folder_of(tmp_path, "row 1")).read_text(encoding="utf-8")


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "check"})
    with pytest.raises(InputError, match="does not hold a price"):
        write_price_page(tmp_path)
