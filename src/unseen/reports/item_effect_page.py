"""The page of what cleaning by rules does to a score, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports import wording
from unseen.reports.formats import Table
from unseen.reports.kinds import kind_of
from unseen.reports.pages import write_page, write_tables
from unseen.reports.tables import sorted_findings
from unseen.store import read_findings, read_measurements
from unseen.store.manifest import read_about
from unseen.types import Finding, Measurement

CLEANED = {"original": "all rows", "cleaned": "flagged rows left out", "random": "as many random rows left out"}


def is_item_effect(folder: str | Path) -> bool:
    """Whether a run folder holds the effect of cleaning by rules."""
    return kind_of(folder) == "item-effect"


def write_item_effect_page(folder: str | Path) -> Path:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX) of a run; returns the page's path."""
    folder = Path(folder)
    if not is_item_effect(folder):
        raise InputError(
            f"{folder} does not hold the effect of cleaning", fix="unseen items effect --out writes such a folder"
        )
    rows, findings = read_measurements(folder / "measurements.csv"), read_findings(folder / "findings.csv")
    about = read_about(folder)
    tables = {
        "scores": score_table(rows, about), "gains": gain_table(rows, about), "rules": rule_table(rows, about),
        "answers": answer_table(rows),
    }  # fmt: skip
    write_tables(folder, tables)
    return write_page(
        folder, "item_effect.html", about, tables=tables, findings=sorted_findings(findings),
        verdict=headline(findings), level=effect_level(findings),
    )  # fmt: skip


def headline(findings: Sequence[Finding]) -> list[str]:
    """The effect in sentences, on the original test part first."""
    return [each.message for each in findings if each.check.startswith("items.effect")]


def effect_level(findings: Sequence[Finding]) -> str:
    """The level of the page: warn when cleaning harms or models answer alike; what rules flag does not count."""
    ours = [each.level for each in findings if each.check.startswith(("items.effect", "items.degenerate"))]
    return "warn" if "warn" in ours else "ok"


def score_table(rows: Sequence[Measurement], about: Mapping[str, Any]) -> Table:
    """Every metric of every training on both test parts."""
    lines = [
        (wording.called(name), CLEANED[train], *(_scored(rows, name, train, test) for test in ("original", "cleaned")))
        for name in about["settings"]["metrics"]
        for train in CLEANED
    ]
    note = f"Means over {len(about['settings']['seeds'])} seeds; intervals of 95 % over seeds and texts."
    return Table("Scores", ("metric", "trained on", "all test rows", "unflagged test rows"), tuple(lines), note)


def gain_table(rows: Sequence[Measurement], about: Mapping[str, Any]) -> Table:
    """Differences between trainings on both test parts."""
    names = tuple(f"gain.{name}" for name in about["settings"]["metrics"])
    found = [row for row in rows if row.metric in names]
    lines = [
        (
            wording.called(row.metric.removeprefix("gain.")),
            f"{CLEANED[str(row.tags['train'])]}, less {CLEANED[str(row.tags['than'])]}",
            "all" if row.tags["test"] == "original" else "unflagged",
            wording.number(row.value, 3),
            wording.bounds(row, lambda value: wording.number(value, 3)),
        )
        for row in found
    ]
    note = (
        "Positive: the first training is better. Flagged less random is the effect of which rows were left out; its "
        "interval draws texts and adds the spread between random removals, the others draw seeds and texts."
    )
    return Table("Differences", ("metric", "trainings", "test rows", "difference", "95 %"), tuple(lines), note)


def rule_table(rows: Sequence[Measurement], about: Mapping[str, Any]) -> Table:
    """What share of all rows and of the training and test parts each rule flags."""
    places = ("all", "part=train", "part=test")
    lines = [
        (name, rule["pack"], rule["trait"], *(wording.percent(_coverage(rows, name, each)) for each in places))
        for name, rule in about["rules"].items()
    ]
    return Table("Rules", ("rule", "pack", "trait", "all", "train", "test"), tuple(lines), "Shares of rows flagged.")


def answer_table(rows: Sequence[Measurement]) -> Table:
    """Whether models answer alike whatever they are asked."""
    names = ("identical_answers", "largest_predicted_class")
    found = {(row.metric, row.tags["train"]): row for row in rows if row.tags.get("test") == "original"}
    lines = [
        (said, *(wording.percent(found[name, train].value) for name in names))
        for train, said in CLEANED.items()
    ]  # fmt: skip
    columns = ("trained on", "most frequent answer", "most frequent label")
    return Table("Answers", columns, tuple(lines), "Shares of the test rows, means over seeds.")


def _scored(rows: Sequence[Measurement], name: str, train: str, test: str) -> str:
    wanted = {"train": train, "test": test}
    found = (row for row in rows if row.metric == name and all(row.tags.get(key) == wanted[key] for key in wanted))
    row = next(found, None)
    said = "" if row is None else wording.bounds(row, lambda value: wording.number(value, 3))
    return wording.DASH if row is None else f"{wording.number(row.value, 3)} {said}".strip()


def _coverage(rows: Sequence[Measurement], rule: str, place: str) -> float | None:
    found = (row for row in rows if row.metric == "rule_coverage" and row.slice == place and row.tags["rule"] == rule)
    return next((row.value for row in found), None)
