"""The page of an author audit: tables of one split, curves that stand where they are, names that only are names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harmless import EVIL, assert_harmless

from unseen.errors import InputError
from unseen.reports.author_page import lorenz_figure, rule_table, unseen_table, write_author_page
from unseen.store import write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement

RULE = {"rule": "leave-one-out"}


def measured(label: str = "yes") -> list[Measurement]:
    rows = [
        Measurement(f"{name}.f1.macro", value, 90, tags=RULE)
        for name, value in (("know_the_author", 0.6), ("majority_class", 0.2), ("permuted_authors", 0.3))
    ]
    rows += [Measurement(f"{name}.accuracy", 0.5, 90, tags=RULE) for name in ("know_the_author", "majority_class")]
    for where in ("all", f"label={label}"):
        rows.append(Measurement("authors.unknown", 0.1, 90, slice=where))
        curve = ((0.0, 0.0), (0.5, 0.2), (1.0, 1.0))
        rows += [Measurement("author_lorenz", value, 90, slice=where, tags={"authors": at}) for at, value in curve]
    for family, sizes in (("random", (30, 30)), ("grouped", (1200, 31))):
        tags = {"split": family}
        rows.append(Measurement("f1.macro", 0.7, sum(sizes), 0.6, 0.8, tags=tags))
        rows += [Measurement("authors_on_both_sides", seed, n, tags={**tags, "seed": seed})
                 for seed, n in enumerate(sizes)]  # fmt: skip
    fall = Measurement("fall.f1.macro", 0.1, 60, 0.05, 0.15, tags={"split": "grouped", "than": "random"})
    return [*rows, fall]


def folder_of(folder: Path, name: str) -> Path:
    write_measurements(measured(name), folder / "measurements.csv")
    write_findings([Finding(name, "warn", f"{name} wrote it.", 7, (name,), name)], folder / "findings.csv")
    about = {
        "kind": "authors", "command": name, "data": {"name": name, "rows": 90}, "settings": {name: name},
        "split": {"name": name}, "versions": {name: name}, "finished": "2026-11-01T00:00:00+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about)
    return folder


def test_chance_stands_beside_the_rule() -> None:
    table = rule_table(measured())
    assert table is not None
    assert table.columns[-3:] == ("by author alone", "by chance", "majority label")
    assert [row[-3:] for row in table.rows] == [(".60", ".30", ".20"), (".50", "–", ".50")]


def test_test_rows_are_those_of_one_split() -> None:
    table = unseen_table(measured())
    assert table is not None
    assert [row[:3] for row in table.rows] == [("random split", 30, "0–1"), ("unseen authors", "31–1,200", "0–1")]


def test_lorenz_curves_stand_where_they_are() -> None:
    picture = lorenz_figure(measured())
    assert picture is not None
    curves = re.findall(r'<path d="([^"]*)"[^>]*style="fill: none; stroke: #[0-9a-f]{6}; stroke-width: 1.3', picture)
    ends = [re.findall(r"[ML] (\S+) (\S+)", curve) for curve in curves if curve.count("L") == 2]
    assert len(ends) == 4, "two curves, and two keys"
    assert ends[0] == ends[1], "equal curves are one above the other"
    assert picture.count("stroke-dasharray: 4,3") == 2, "the line of equality, and its key"


def test_nothing_in_a_run_becomes_markup(tmp_path: Path) -> None:
    page = write_author_page(folder_of(tmp_path, EVIL))
    assert_harmless(page)


def test_examples_are_named(tmp_path: Path) -> None:
    assert "<code>row 1</code>" in write_author_page(folder_of(tmp_path, "row 1")).read_text(encoding="utf-8")


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "check"})
    with pytest.raises(InputError, match="does not hold an author audit"):
        write_author_page(tmp_path)
