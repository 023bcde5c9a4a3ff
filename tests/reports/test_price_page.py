"""The page of a price: both tables."""

from __future__ import annotations

from pathlib import Path

from kind_folders import METRIC, price, price_rows

from unseen.reports.record import RunRecord
from unseen.runs.frame import report
from unseen.runs.price import on_test_table, on_train_table


def test_the_share_of_removals_that_are_as_far_is_shown_where_it_is_known() -> None:
    with_p, without = (on_train_table(RunRecord({}, price_rows("exact", **tags)), METRIC) for tags in ({"p": 0.25}, {}))
    assert with_p is not None
    assert without is not None
    line = ("exact", 7, "all test rows", ".80", ".75", "5.0 [1.0, 9.0]")
    assert with_p.rows == ((*line, "25 %"),)
    assert with_p.columns[-1] == "by chance"
    assert without.rows == (line,)
    assert len(without.columns) == len(line)
    for table in (with_p, without):
        assert "Intervals draw test rows and add the spread between random removals" in table.note
    tested = on_test_table(RunRecord({}, price_rows("exact")), METRIC)
    assert tested is not None
    assert tested.rows[0][-1] == "2 %"


def test_both_sides_have_a_table(tmp_path: Path) -> None:
    result = report(price(tmp_path, "exact"))
    assert [*result.tables] == ["test-side", "train-side"]
    assert [section.heading for section in result.page.sections] == [
        "Removed from the test part", "Removed from training", "Findings",
    ]  # fmt: skip
    assert (result.verdict.level, result.verdict.badge) == ("fail", "leaks pay")
