"""The authors of a dataset, as a verdict, a figure and tables; the page of an author audit from its folder alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports.curves import CurvePoint, Series, curve_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.kinds import kind_of
from unseen.reports.pages import write_page, write_tables
from unseen.reports.tables import sorted_findings, worst_level
from unseen.reports.wording import bounds, called, number, percent, points, scored
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement

TOPS = ("1", "2", "5", "10")
RULES = {"leave-one-out": "the author's other rows", "split": "the author's rows in training"}
FAMILIES = {
    "random": "random split",
    "grouped": "unseen authors",
    "thinned": "unseen authors, trained without random rows",
    "capped": "unseen authors, trained with a cap per author and class",
}
MOST_CURVES = 7


def is_author_audit(folder: str | Path) -> bool:
    """Whether a run folder holds an author audit."""
    return kind_of(folder) == "authors"


def write_author_page(folder: str | Path) -> Path:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX) of an author audit; returns the page's path."""
    folder = Path(folder)
    if not is_author_audit(folder):
        raise InputError(f"{folder} does not hold an author audit", fix="unseen authors --out writes one")
    about = read_about(folder)
    rows, findings = read_measurements(folder / "measurements.csv"), read_findings(folder / "findings.csv")
    section = author_section(rows, findings)
    write_tables(folder, section["tables"])
    return write_page(folder, "authors.html", about, section=section)


def author_section(rows: Sequence[Measurement], findings: Sequence[Finding]) -> dict[str, Any]:
    """Level, tables, Lorenz figure and findings of an author audit."""
    made = {
        "concentration": concentration_table(rows),
        "know-the-author": rule_table(rows),
        "top-authors": top_table(rows),
        "unseen-authors": unseen_table(rows),
        "estimate": estimate_table(rows),
    }
    return {
        "level": worst_level(findings),
        "findings": sorted_findings(findings),
        "tables": {name: table for name, table in made.items() if table is not None},
        "lorenz": {narrow: lorenz_figure(rows, narrow == "narrow") for narrow in ("wide", "narrow")},
    }


def concentration_table(rows: Sequence[Measurement]) -> Table | None:
    """A line per class: rows, authors, Gini and the shares of the top authors."""
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        if row.metric == "authors.unknown":
            count, gini = (_row(rows, name, row.slice) for name in ("authors.count", "author_gini"))
            shares = [_row(rows, f"author_share.top{top}", row.slice) for top in TOPS]
            authors = int(count.value) if count is not None and count.value is not None else 0
            cells = (number(gini.value if gini else None), *(percent(each.value if each else None) for each in shares))
            lines.append((_class(row.slice), row.n, percent(row.value), authors, *cells))
    heads = ("class", "rows", "unknown author", "authors", "Gini", *(f"top {top}" for top in TOPS))
    note = "Gini 0: all authors wrote equally much; towards 1: few wrote all. Of rows whose author is known."
    return Table("How rows are spread over authors", heads, tuple(lines), note) if lines else None


def rule_table(rows: Sequence[Measurement]) -> Table | None:
    """A line per metric and rule: predicting by author alone, beside chance and the majority label."""
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        if row.metric.startswith("know_the_author."):
            metric, rule = row.metric.removeprefix("know_the_author."), str(row.tags["rule"])
            majority = _row(rows, f"majority_class.{metric}", rule=rule)
            chance = _row(rows, f"permuted_authors.{metric}", rule=rule)
            lines.append((RULES.get(rule, rule), called(metric), row.n, *map(scored, (row, chance, majority))))
    heads = ("what the rule knows", "metric", "rows", "by author alone", "by chance", "majority label")
    note = "By chance: the same rule when the authors of rows are permuted."
    return Table("Predicting by author alone", heads, tuple(lines), note) if lines else None


def top_table(rows: Sequence[Measurement]) -> Table | None:
    """A line per class and number of top authors: precision, recall and F1 of calling all their rows that class."""
    lines: list[tuple[Cell, ...]] = []
    for row in rows:
        if row.metric == "know_top_authors.f1":
            names = ("precision", "recall", "f1", "f1.macro", "f1.weighted")
            top = str(row.tags["authors"])
            found = [_row(rows, f"know_top_authors.{name}", row.slice, authors=top) for name in names]
            lines.append((_class(row.slice), int(top), *(number(each.value if each else None) for each in found)))
    heads = ("class", "top authors", "precision", "recall", "F1", "macro F1", "weighted F1")
    note = "Every row of these authors is called that class, every other row is not."
    return Table("Knowing a few authors", heads, tuple(lines), note) if lines else None


def unseen_table(rows: Sequence[Measurement]) -> Table | None:
    """A line per kind of split: score, and the fall where it is compared."""
    lines: list[tuple[Cell, ...]] = []
    falls = [row for row in rows if row.metric.startswith("fall.")]
    if not falls:
        return None
    metric = falls[0].metric.removeprefix("fall.")
    for family, said in FAMILIES.items():
        score = _row(rows, metric, split=family)
        if score is None:
            continue
        lost = next((row for row in falls if row.tags.get("split") == family), None)
        sides = [row for row in rows if row.metric == "authors_on_both_sides" and row.tags["split"] == family]
        cost = "" if lost is None else " ".join(filter(None, [points(lost.value), bounds(lost, points)]))
        than = "" if lost is None else FAMILIES[str(lost.tags["than"])]
        sizes, both = _range([each.n for each in sides]), _range([int(each.value or 0) for each in sides])
        lines.append((said, sizes, both, scored(score), cost, than))
    heads = ("split", "test rows", "authors on both sides", called(metric), "fall, points", "against")
    note = "Test rows of one split, of which there is one per seed. Intervals draw seeds and whole authors."
    return Table("Random and unseen authors", heads, tuple(lines), note)


def estimate_table(rows: Sequence[Measurement]) -> Table | None:
    """The estimate, its measured error, and what its verifier is worth."""
    names = {
        "estimate.shared_author": "estimate: test rows whose nearest training row in style has their author",
        "estimate.error": "measured error of the estimate: mean, on calibration authors whose names were hidden",
        "verifier.precision": "verifier of the estimate: pairs it takes for one author's that are",
        "verifier.recall": "verifier of the estimate: pairs of one author that it finds",
        "verifier.false_alarms": "verifier of the estimate: pairs of two authors that it takes for one's",
        "verifier.alarms_here": "verifier of the estimate: pairs of this data that it takes for one author's",
    }
    found = [(said, row) for name, said in names.items() if (row := _row(rows, name)) is not None]
    lines: list[tuple[Cell, ...]] = [(said, scored(row), row.n) for said, row in found]
    return Table("An estimate, with its measured error", ("what", "share", "of"), tuple(lines)) if lines else None


def lorenz_figure(rows: Sequence[Measurement], narrow: bool = False) -> str | None:
    """Share of rows over share of authors, a line for all rows and for each class; None without authors."""
    curves: dict[str, list[CurvePoint]] = {}
    for row in rows:
        if row.metric == "author_lorenz" and row.value is not None:
            curves.setdefault(_class(row.slice), []).append(CurvePoint(float(row.tags["authors"]), row.value))
    if not curves:
        return None
    shown = [Series(name, tuple(found)) for name, found in list(curves.items())[:MOST_CURVES]]
    equal = Series("equal", (CurvePoint(0, 0), CurvePoint(1, 1)), dashed=True)
    axes = "share of authors, least prolific first", "share of rows"
    return curve_chart([*shown, equal], *axes, narrow=narrow, marked=False)


def _range(counts: Sequence[int]) -> int | str:
    """What all have; from the least to the most when they differ."""
    least, most = min(counts), max(counts)
    return least if least == most else f"{least:,}–{most:,}"


def _class(slice: str) -> str:
    return "all rows" if slice == "all" else slice.removeprefix("label=")


def _row(found_in: Sequence[Measurement], metric: str, slice: str = "all", /, **tags: str) -> Measurement | None:
    for row in found_in:
        if row.metric == metric and row.slice == slice and all(str(row.tags.get(tag)) == tags[tag] for tag in tags):
            return row
    return None
