"""The report of a check: what models pass of a suite, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports import behaviour
from unseen.reports.behaviour import Behaviour
from unseen.reports.behaviour_section import section
from unseen.reports.kinds import kind_of
from unseen.reports.pages import write_page, write_tables
from unseen.store import read_measurements
from unseen.store.manifest import read_about


def write_check_page(folder: str | Path) -> Path:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX) of a check; returns the page's path."""
    folder = Path(folder)
    if kind_of(folder) != "check":
        raise InputError(f"{folder} does not hold a check", fix="unseen check --out writes one")
    found = behaviour.behaviours(read_measurements(folder / "measurements.csv"))
    tables = {name: table for each in found for name, table in behaviour.tables(each).items()}
    write_tables(folder, tables)
    about = read_about(folder)
    gates = about.get("gates", [])
    return write_page(
        folder, "check.html", about,
        sections=[section(each) for each in found],
        gates=gates,
        failed=[each for each in gates if not each["passed"]],
        passed=[each for each in gates if each["passed"]],
        level=level(found, gates),
        files=sorted(tables),
    )  # fmt: skip


def level(found: Sequence[Behaviour], gates: Sequence[Mapping[str, Any]]) -> str:
    """fail: a gate failed; warn: a functionality is passed less often than by guessing; else ok."""
    if not all(each["passed"] for each in gates):
        return "fail"
    rates = [of.rate(name, model) for of in found for name in of.of_axis("functionality") for model in of.models]
    low = any(row is not None and row.value is not None and row.value < behaviour.LOW for row in rates)
    return "warn" if low else "ok"
