"""The page of a check: what it says, and that nothing in a suite can harm a reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import browser
import numpy as np
import pytest
from harmless import EVIL, assert_harmless

from tiny_data import build
from unseen.errors import InputError
from unseen.functional import as_suite, check
from unseen.functional.checking import compare_on_suite
from unseen.reports.behaviour import behaviours, comparison_table, functionality_table, headline, pair_table
from unseen.reports.bias_section import bias_section
from unseen.reports.check_page import level, write_check_page
from unseen.reports.formats import Strong, to_latex, to_markdown
from unseen.store import write_json, write_measurements
from unseen.types import Dataset, Measurement, Predictions

browse, probe = browser.browse, browser.probe
HOSTILE = EVIL + "long" * 60
LABELS = ["yes"] * 6 + ["no"] * 6


def suite_of(functionalities: tuple[str, str] = ("x_plain", "x_not"), target: str = "cooks") -> Dataset:
    ids = [f"{kind}{number}" for kind in "ab" for number in range(6)]
    return as_suite(
        build(
            ids=ids, labels=LABELS, functionality=[functionalities[0]] * 6 + [functionalities[1]] * 6,
            template=[f"{kind}{number // 2}" for kind in "ab" for number in range(6)],
            target=[target, "waiters"] * 6, reference=[None] * 6 + ids[:6],
        )
    )  # fmt: skip


def said(suite: Dataset, wrong: int) -> Predictions:
    """All right but for the first rows."""
    codes = suite.labels.copy()
    codes[:wrong] = 1 - codes[:wrong]
    return Predictions(suite.ids, np.eye(2)[codes], suite.label_names)


def rows_of(suite: Dataset, **models: int) -> list[Measurement]:
    rows = [row for name, wrong in models.items() for row in check(suite, said(suite, wrong), tags={"model": name})]
    if len(models) == 2:
        (a, x), (b, y) = models.items()
        rows += compare_on_suite(suite, said(suite, x), said(suite, y), tags={"model": a, "other": b})
    return rows


def folder_of(path: Path, suite: Dataset, gates: list[dict[str, Any]] | None = None, **models: int) -> Path:
    write_measurements(rows_of(suite, **models), path / "measurements.csv")
    about = {
        "kind": "check",
        "command": "unseen check",
        "gates": gates or [],
        "versions": {},
        "finished": "2026-11-01",
    }
    asked = {name: {"source": name, "rename": None, "threshold": None} for name in models}
    cases = {"name": suite.name, "cases": len(suite), "counts": suite.label_counts}
    write_json(path / "run.json", about | {"models": asked, "suite": cases})
    return path


def test_the_best_is_bold_and_the_low_are_marked() -> None:
    (of,) = behaviours(rows_of(suite_of(), good=0, bad=4))
    table = functionality_table(of)
    (line,) = [row for row in table.rows if row[1] == "x_plain"]
    assert line[:4] == ("x", "x_plain", "yes", 6)
    assert isinstance(line[4], Strong)
    assert str(line[4]).startswith("100.0 [")
    assert not isinstance(line[5], Strong)
    assert str(line[5]).startswith("33.3")
    assert str(line[5]).endswith("↓")
    assert f"**{line[4]}**".replace("[", "[") in to_markdown(table)
    assert r"\textbf{100.0" in to_latex(table)


def test_what_is_said_of_a_model() -> None:
    (of,) = behaviours(rows_of(suite_of(), good=0, bad=4))
    assert (
        headline(of, "good")
        == "good passes 100.0 % of the 12 cases of tiny, and at least 100 % of every functionality."
    )
    assert headline(of, "bad").endswith("1 of 2 functionalities are below 50 %; the lowest: x_plain (33 %).")


def test_pairs_and_comparisons_have_tables() -> None:
    (of,) = behaviours(rows_of(suite_of(), good=0, bad=4))
    pairs = pair_table(of)
    assert pairs is not None
    assert pairs.rows[0] == ("contrast", "both right", "all", 6, "100.0", "33.3")
    compared = comparison_table(of)
    assert compared is not None
    assert compared.rows[0][:5] == ("good", "bad", "all", 12, "33.3")
    (alone,) = behaviours(rows_of(suite_of(), good=0))
    assert comparison_table(alone) is None


def test_levels() -> None:
    good, bad = (behaviours(rows_of(suite_of(), m=wrong)) for wrong in (0, 4))
    assert (level(good, []), level(bad, [])) == ("ok", "warn")
    assert level(good, [{"passed": False}]) == "fail"


def test_another_folder_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "study"})
    with pytest.raises(InputError, match="does not hold a check"):
        write_check_page(tmp_path)


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, suite_of(), good=0, bad=4)
    first = write_check_page(folder).read_bytes()
    assert write_check_page(folder).read_bytes() == first
    assert {path.name for path in (folder / "tables").glob("*.md")} >= {
        "functionalities.md",
        "pairs.md",
        "by-target.md",
    }


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """The page of a suite whose names want to run."""
    suite = suite_of((f"x_{HOSTILE}", "x_not"), HOSTILE)
    gates = [{"passed": False, "model": HOSTILE, "slice": HOSTILE, "value": 0.1, "gate": {"at_least": 0.5}}]
    return write_check_page(folder_of(tmp_path, suite, gates, **{HOSTILE: 4, "good": 0}))


def test_nothing_in_a_run_becomes_markup(hostile: Path) -> None:
    assert_harmless(hostile)


@pytest.mark.browser
@pytest.mark.skipif(not browser.CHROMIUM.exists(), reason="no browser: chromium is missing")
def test_hostile_names_neither_run_nor_overflow(
    hostile: Path, browse: Callable[..., str], probe: Callable[..., Any]
) -> None:
    page = hostile
    dom = browse(page, "--dump-dom")
    assert "<title>it ran</title>" not in dom
    assert "<script" not in dom
    for width in (browser.PHONE, 1200):
        found = probe(page.read_text(encoding="utf-8").replace("<details", "<details open"), width)
        assert found["scrolls"] == width
        assert found["over"] == []


def test_bias_is_shown_side_by_side() -> None:
    def row(metric: str, family: str, value: float | None, slice: str = "all", **more: str) -> Measurement:
        tags = {"grouping": "target", "family": family, "part": "test", "split": family, "seed": 1, **more}
        return Measurement(f"bias.{metric}", value, 10, slice=slice, tags=tags)

    rows = [
        row("gmb_bpsn_auc", "random", 0.9, groups="2 of 2"), row("gmb_bpsn_auc", "closest", 0.6, groups="1 of 2"),
        row("bpsn_auc", "random", 0.95, "target=cooks"), row("bpsn_auc", "closest", None, "target=cooks"),
    ]  # fmt: skip
    found = bias_section(rows)
    assert found is not None
    assert [line[:2] + line[3:4] + line[5:6] for line in found["summary"].rows] == [
        ("random", "test", ".90", "2 of 2"), ("closest", "test", ".60", "1 of 2"),
    ]  # fmt: skip
    (drawn,) = found["maps"]
    assert "cooks" in drawn
    assert ".95" in drawn
    assert 'class="number missing"' in drawn  # undefined is not zero
    assert bias_section([Measurement("f1.macro", 0.5, 3)]) is None
