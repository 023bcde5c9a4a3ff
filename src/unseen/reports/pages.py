"""What all pages share: how a template becomes report.html, and where tables lie."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unseen.reports import wording
from unseen.reports.formats import FORMATS, Table
from unseen.store import write_text


def write_page(folder: Path, template: str, about: Mapping[str, Any], **shown: Any) -> Path:
    """Write `report.html` into a run folder and return its path. The same folder gives the same bytes.

    Beside `shown` the template has run.json (`about`), its settings and versions line by line, when the run
    finished, and the formats of tables.
    """
    page = environment().get_template(template).render(
        about=about,
        settings=flat(about.get("settings")),
        finished=moment(about.get("finished")),
        versions=flat(about.get("versions")),
        formats=list(FORMATS),
        **shown,
    )  # fmt: skip
    # a lone surrogate in a name has no place in a file
    return write_text(folder / "report.html", page.encode("utf-8", "replace").decode("utf-8"))


def write_tables(folder: Path, tables: Mapping[str, Table]) -> None:
    """Write tables by the names of their files into `tables` of a run folder, as CSV, Markdown and LaTeX."""
    for name, table in tables.items():
        for suffix, write in FORMATS.items():
            write_text(folder / "tables" / f"{name}.{suffix}", write(table))


def environment() -> Environment:
    """Templates that escape everything and miss nothing silently."""
    found = Environment(
        loader=PackageLoader("unseen.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.filters |= {
        "number": wording.number,
        "points": wording.points,
        "percent": wording.percent,
        "duration": wording.duration,
        "unbroken": wording.unbroken,
        "thousands": lambda count: f"{count:,}" if isinstance(count, int) else str(count),
    }
    return found


def moment(stamp: Any) -> str:
    """A time stamp to the minute; anything else as it is."""
    try:
        return datetime.fromisoformat(str(stamp)).strftime("%Y-%m-%d %H:%M %Z").strip()
    except ValueError:
        return str(stamp or "")


def flat(content: Any, name: str = "") -> list[tuple[str, str]]:
    """Nested settings as names and values, one line each."""
    if content is None:
        return []
    if not isinstance(content, Mapping):
        value = ", ".join(map(str, content)) if isinstance(content, list | tuple) else str(content)
        return [(name, value)]
    return [line for key, value in content.items() for line in flat(value, f"{name}.{key}" if name else str(key))]
