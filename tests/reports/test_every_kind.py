"""What is done with a finished run, comparing, tracking and publishing its splits, is done with every kind of it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from kind_folders import FOLDERS

from finished_runs import run_here
from unseen.errors import InputError
from unseen.reports.comparison import compare_runs, of_whole_run
from unseen.reports.comparison_text import differences_table, falls_table, headline, remarks, warnings
from unseen.reports.record import read_record
from unseen.reports.split_card import write_cards
from unseen.reports.tracking import record_of
from unseen.store import read_measurements, write_measurements
from unseen.types import Measurement

every_kind = pytest.mark.parametrize("kind", FOLDERS)
WITH_SPLITS = ("stress", "study", "transfer", "item-effect")


@pytest.fixture
def folder(kind: str, tmp_path: Path) -> Path:
    return FOLDERS[kind](tmp_path / "run", "posts")


def moved(folder: Path, by: float) -> Path:
    """A copy of the run in which every number is higher."""
    copy = Path(shutil.copytree(folder, folder.with_name(f"moved by {by}")))
    rows = [
        row if row.value is None else replace(row, value=row.value + by, low=None, high=None)
        for row in read_measurements(folder / "measurements.csv")
    ]
    write_measurements(rows, copy / "measurements.csv")
    return copy


@every_kind
def test_two_runs_of_a_kind_are_compared(kind: str, folder: Path) -> None:
    same = compare_runs(folder, moved(folder, 0.0))
    assert headline(same).startswith("No change at all")
    comparison = compare_runs(folder, moved(folder, 0.01), everything=True)
    assert comparison.rows
    for row in comparison.rows:
        assert row.value == pytest.approx(0.01)
        assert float(row.tags["b"]) - float(row.tags["a"]) == pytest.approx(0.01)
    assert len({(row.metric, row.slice, str(row.tags)) for row in comparison.rows}) == len(comparison.rows)
    assert len(differences_table(comparison).rows) == len(comparison.rows)
    if not all(comparison.seeds):
        rows = of_whole_run(read_measurements(folder / "measurements.csv"))
        assert len(comparison.rows) == sum(row.value is not None for row in rows)
    for table in (differences_table(comparison), falls_table(comparison)):
        names = [row[: next(at for at, name in enumerate(table.columns) if name.endswith("A"))] for row in table.rows]
        assert len(set(names)) == len(names), "rows that look alike"
    for table in (falls_table(comparison), differences_table(comparison, exact=True)):
        assert table.columns
    sentences = [headline(comparison), *remarks(comparison), *warnings(comparison)]
    assert re.match(r"B is (better|higher) |No clear change", sentences[0])
    assert not [sentence for sentence in sentences if re.search(r"\b(nan|None)\b|by \.", sentence)]


@every_kind
def test_a_number_that_one_run_lacks_is_named(kind: str, folder: Path) -> None:
    shorter = moved(folder, 0.0)
    rows = read_measurements(shorter / "measurements.csv")
    main = compare_runs(folder, shorter).metric
    kept = [row for row in rows if row.metric != main or row.slice != "all"]
    write_measurements([*kept, *[row for row in rows if row not in kept][1:]], shorter / "measurements.csv")
    comparison = compare_runs(folder, shorter, metrics=[main])
    assert len(comparison.pairs.only_a) + len(comparison.rows) + len(comparison.pairs.apart) > 0


@every_kind
def test_every_number_of_a_run_is_tracked_under_a_name_of_its_own(kind: str, folder: Path) -> None:
    record = read_record(folder)
    tracked = record_of(record)
    assert tracked.metrics
    once = [row for row in record.measurements if row.slice == "all" and "split" not in row.tags]
    once = [row for row in once if row.value is not None and not row.metric.startswith("standard_error.")]
    assert sum(not name.endswith((".low", ".high")) for name in tracked.metrics) >= len(once)
    assert "measurements.csv" in tracked.files


@pytest.mark.parametrize("kind", WITH_SPLITS)
def test_splits_are_published_by_every_kind_that_makes_some(
    kind: str, finished: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(finished(kind) / "run", tmp_path / "run"))
    card = write_cards(folder)[0].read_text(encoding="utf-8")
    for name in read_record(folder).splits:
        assert name in card.replace("\\", "")
    assert "| calm |" in card


@pytest.mark.parametrize("kind", [kind for kind in FOLDERS if kind not in WITH_SPLITS])
def test_a_run_without_splits_has_none_to_publish(kind: str, folder: Path) -> None:
    with pytest.raises(InputError, match="made no splits to publish") as error:
        write_cards(folder)
    assert f"unseen runs report {folder}" in str(error.value.fix)


@every_kind
def test_the_commands_take_every_kind(kind: str, folder: Path) -> None:
    assert run_here("runs", "report", str(folder), "-q").code == 0
    done = run_here("runs", "compare", str(folder), str(moved(folder, 0.01)))
    assert (done.code, "B" in done.out) == (0, True)


def test_a_run_without_a_number_over_all_texts_is_compared_and_tracked_by_slice(tmp_path: Path) -> None:
    """Such as how long the texts of each label are."""
    folder = FOLDERS["audit"](tmp_path / "run", "posts")
    rows = [Measurement("length.words", value, 9, slice=f"label={name}") for name, value in (("a", 3.0), ("b", 5.0))]
    write_measurements(rows, folder / "measurements.csv")
    assert record_of(read_record(folder)).metrics == {"length.words/label=a": 3.0, "length.words/label=b": 5.0}
    comparison = compare_runs(folder, moved(folder, 0.01))
    assert [(row.slice, row.value) for row in comparison.rows] == [
        ("label=a", pytest.approx(0.01)), ("label=b", pytest.approx(0.01)),
    ]  # fmt: skip
    assert "no number in common" not in headline(comparison)
