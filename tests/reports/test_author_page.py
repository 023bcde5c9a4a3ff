"""The page of an author audit: tables of one split, curves that stand where they are."""

from __future__ import annotations

import re

from kind_folders import author_rows

from unseen.reports.record import RunRecord
from unseen.runs.authors import lorenz_figure, rule_table, unseen_table

MEASURED = RunRecord({}, author_rows())


def test_chance_stands_beside_the_rule() -> None:
    table = rule_table(MEASURED)
    assert table is not None
    assert table.columns[-3:] == ("by author alone", "by chance", "majority label")
    assert [row[-3:] for row in table.rows] == [(".60", ".30", ".20"), (".50", "–", ".50")]


def test_test_rows_are_those_of_one_split() -> None:
    table = unseen_table(MEASURED)
    assert table is not None
    assert [row[:3] for row in table.rows] == [("random split", 30, "0–1"), ("unseen authors", "31–1,200", "0–1")]


def test_lorenz_curves_stand_where_they_are() -> None:
    both = lorenz_figure(MEASURED)
    assert both is not None
    picture = both.partition("</figure>")[0]
    curves = re.findall(r'<path d="([^"]*)"[^>]*style="fill: none; stroke: #[0-9a-f]{6}; stroke-width: 1.3', picture)
    ends = [re.findall(r"[ML] (\S+) (\S+)", curve) for curve in curves if curve.count("L") == 2]
    assert len(ends) == 4, "two curves, and two keys"
    assert ends[0] == ends[1], "equal curves are one above the other"
    assert picture.count("stroke-dasharray: 4,3") == 2, "the line of equality, and its key"
