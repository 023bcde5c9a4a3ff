"""The report of a check: what models pass of a suite, from its folder alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.reports import behaviour
from unseen.reports.behaviour import Behaviour
from unseen.reports.behaviour_section import section
from unseen.reports.formats import FORMATS
from unseen.reports.stress_page import environment, flat, moment
from unseen.store import read_json, read_measurements, write_text
from unseen.store.files import holds


def is_check(folder: str | Path) -> bool:
    """Whether a run folder holds a check."""
    return holds(Path(folder) / "run.json", {"kind"}) and read_json(Path(folder) / "run.json")["kind"] == "check"


def write_check_page(folder: str | Path) -> Path:
    """Write `report.html` and the tables (CSV, Markdown, LaTeX) of a check; returns the page's path."""
    folder = Path(folder)
    if not is_check(folder):
        raise InputError(f"{folder} does not hold a check", fix="unseen check --out writes one")
    found = behaviour.behaviours(read_measurements(folder / "measurements.csv"))
    for each in found:
        for name, table in behaviour.tables(each).items():
            for suffix, write in FORMATS.items():
                write_text(folder / "tables" / f"{name}.{suffix}", write(table))
    about = read_json(folder / "run.json")
    gates = about.get("gates", [])
    page = (
        environment()
        .get_template("check.html")
        .render(
            about=about,
            sections=[section(each) for each in found],
            gates=gates,
            failed=[each for each in gates if not each["passed"]],
            passed=[each for each in gates if each["passed"]],
            level=level(found, gates),
            files=sorted({name for each in found for name in behaviour.tables(each)}),
            formats=list(FORMATS),
            finished=moment(about.get("finished")),
            versions=flat(about.get("versions")),
        )
    )
    return write_text(folder / "report.html", page.encode("utf-8", "replace").decode("utf-8"))


def level(found: Sequence[Behaviour], gates: Sequence[Mapping[str, Any]]) -> str:
    """fail: a gate failed; warn: a functionality is passed less often than by guessing; else ok."""
    if not all(each["passed"] for each in gates):
        return "fail"
    rates = [of.rate(name, model) for of in found for name in of.of_axis("functionality") for model in of.models]
    low = any(row is not None and row.value is not None and row.value < behaviour.LOW for row in rates)
    return "warn" if low else "ok"
