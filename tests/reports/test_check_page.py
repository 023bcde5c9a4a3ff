"""The page of a check: what it says."""

from __future__ import annotations

from pathlib import Path

from kind_folders import check_rows, checked, suite_of
from markupsafe import Markup

from unseen.reports.behaviour import behaviours, comparison_table, functionality_table, headline, pair_table
from unseen.reports.formats import Strong, Table, to_latex, to_markdown
from unseen.reports.stress_page import bias_section
from unseen.runs.check import level_of
from unseen.runs.frame import report
from unseen.types import Measurement


def test_the_best_is_bold_and_the_low_are_marked() -> None:
    (of,) = behaviours(check_rows(suite_of(), good=0, bad=4))
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
    (of,) = behaviours(check_rows(suite_of(), good=0, bad=4))
    assert (
        headline(of, "good") == "good passes 100 % of the 12 cases of tiny, and at least 100 % of every functionality."
    )
    assert headline(of, "bad").endswith("1 of 2 functionalities are below 50 %; the lowest: x_plain (33 %).")


def test_pairs_and_comparisons_have_tables() -> None:
    (of,) = behaviours(check_rows(suite_of(), good=0, bad=4))
    pairs = pair_table(of)
    assert pairs is not None
    assert pairs.rows[0] == ("contrast", "both right", "all", 6, "100.0", "33.3")
    compared = comparison_table(of)
    assert compared is not None
    assert compared.rows[0][:5] == ("good", "bad", "all", 12, "33.3")
    (alone,) = behaviours(check_rows(suite_of(), good=0))
    assert comparison_table(alone) is None


def test_levels() -> None:
    good, bad = (behaviours(check_rows(suite_of(), m=wrong)) for wrong in (0, 4))
    assert (level_of(good, []), level_of(bad, [])) == ("ok", "warn")
    assert level_of(good, [{"passed": False}]) == "fail"


def test_tables_of_a_check(tmp_path: Path) -> None:
    result = report(checked(tmp_path, "bad"))
    assert result.tables.keys() >= {"functionalities", "pairs", "by-target"}
    assert (result.verdict.level, result.verdict.badge) == ("warn", "look closer")
    content = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "bad: bad; labels bad → bad; bad from 0.5 on" in content


def test_bias_is_shown_side_by_side() -> None:
    def row(metric: str, family: str, value: float | None, slice: str = "all", **more: str) -> Measurement:
        tags = {"grouping": "target", "family": family, "part": "test", "split": family, "seed": 1, **more}
        return Measurement(f"bias.{metric}", value, 10, slice=slice, tags=tags)

    rows = [
        row("gmb_bpsn_auc", "random", 0.9, groups="2 of 2"), row("gmb_bpsn_auc", "closest", 0.6, groups="1 of 2"),
        row("bpsn_auc", "random", 0.95, "target=cooks"), row("bpsn_auc", "closest", None, "target=cooks"),
    ]  # fmt: skip
    section = bias_section(rows)
    assert section is not None
    table, drawn = section.parts
    assert isinstance(table, Table)
    assert [line[:2] + line[3:4] + line[5:6] for line in table.rows] == [
        ("random", "test", ".90", "2 of 2"), ("closest", "test", ".60", "1 of 2"),
    ]  # fmt: skip
    assert isinstance(drawn, Markup)
    assert "cooks" in drawn
    assert ".95" in drawn
    assert 'class="number missing"' in drawn  # undefined is not zero
    assert bias_section([Measurement("f1.macro", 0.5, 3)]) is None
