"""Tables by their columns: a line for each part of a run, a heading beside what is shown under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.reports.columns import score, table_of, value
from unseen.reports.formats import Table
from unseen.reports.record import RunRecord
from unseen.types import Measurement
from unseen.types.numbers import percent

RUN = RunRecord(
    {"kind": "attack", "gates": [{"passed": True}, {"passed": False}]},
    [
        Measurement("success", 0.25, 40, 0.1, 0.4, tags={"attack": "b"}),
        Measurement("success", 0.5, 40, tags={"attack": "a", "seed": 1}),
        Measurement("success", 0.75, 20, slice="label=x", tags={"attack": "a"}),
        Measurement("queries", 12.0, 40, tags={"attack": "a"}),
    ],
)


def test_a_table_has_a_line_for_each_part_and_a_dash_for_what_was_not_measured() -> None:
    columns = {"all": score("success", percent), "x": value("success", slice="label=x"), "asked": value("queries")}
    parts = RUN.by("attack", RUN.names("attack", "success"))
    table = table_of("Attacks", "attack", parts, columns, "a note")
    rows = (("b", "25 % [10 %, 40 %]", "–", "–"), ("a", "50 %", ".75", "12.00"))
    assert table == Table("Attacks", ("attack", "all", "x", "asked"), rows, "a note")
    several = table_of("Attacks", ("attack", "texts"), [(("a", 40), parts["a"])], {"all": score("success")})
    assert several == Table("Attacks", ("attack", "texts", "all"), (("a", 40, ".50"),))


def test_a_part_of_a_record_has_its_own_measurements_alone() -> None:
    assert [row.value for row in RUN.where(attack="a", seed=None).measurements] == [0.75, 12.0]
    assert RUN.where(attack=("a", "b")).needed("success").value == 0.25
    with pytest.raises(LookupError, match="queries of all was not measured"):
        RUN.where(attack="b").needed("queries")


def test_a_record_knows_its_files_and_whether_its_gates_hold(tmp_path: Path) -> None:
    assert RUN.file("flips.csv") is None, "nothing was written"
    written = RunRecord({}, [], folder=tmp_path)
    assert written.file("flips.csv") is None
    (tmp_path / "flips.csv").touch()
    assert written.file("flips.csv") == tmp_path / "flips.csv"
    assert written.gates_hold
    assert not RUN.gates_hold


def test_a_table_of_items_shows_of_each_what_its_columns_say() -> None:
    table = Table.of("Words", ["an", "apple"], {"word": str.upper, "letters": len})
    assert table == Table("Words", ("word", "letters"), (("AN", 2), ("APPLE", 5)))
