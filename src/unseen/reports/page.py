"""The page of a run: a verdict, sections, and where the files are. One template serves all kinds of run."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from unseen.evaluation import wording
from unseen.evaluation.gates import GateOutcome
from unseen.reports.computed import computed
from unseen.reports.formats import FORMATS, Table
from unseen.reports.record import RunRecord, flattened
from unseen.store import write_text
from unseen.types import Finding, Measurement, numbers

if TYPE_CHECKING:
    from unseen.reports.actions import Action

BADGES = {"ok": "ok", "warn": "look closer", "fail": "failed", "skipped": "not measured"}
LEVEL_ORDER = ("fail", "warn", "ok", "skipped")
INTERVAL = re.compile(r"\[[−.\d]+( %)?, [−.\d]+( %)?\]")
TEMPLATES = Path(__file__).parent / "templates"
NAVIGATED = 5
"""From so many sections on, the page has a list of them."""


@dataclass(frozen=True)
class Verdict:
    """What a run says, the headline first."""

    headline: str
    sentences: list[str]
    level: str
    """ok, warn or fail; skipped where nothing could be measured."""
    actions: list[Action] = field(default_factory=list)
    """What to do, the most useful first."""
    badge: str = ""
    """The level in a few words of this kind of run."""

    def lines(self) -> list[str]:
        """Everything that is said, a line each."""
        to_do = [f"{place}. {action}" for place, action in enumerate(self.actions, start=1)]
        return [self.headline, *self.sentences, *(["What to do:"] if to_do else []), *to_do]

    def __str__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True)
class Subheading:
    """A heading within a section."""

    title: str
    beside: str = ""
    """In small print after it."""


@dataclass(frozen=True)
class Folded:
    """Something that is opened by a click on its summary."""

    summary: str
    parts: Sequence[Part]


Part = str | Markup | Table | Subheading | Folded
"""What a section is made of; a text that is not Markup is a paragraph."""


@dataclass(frozen=True)
class Section:
    """A part of a page: text, parts, pictures, tables, findings, in this order."""

    heading: str
    text: str = ""
    pictures: Sequence[Markup] = ()
    tables: Sequence[Table] = ()
    """Shown under the heading; of several, each under its title."""
    folded: Mapping[str, Sequence[Table]] = field(default_factory=dict)
    """Tables that are opened by a click on their summary."""
    findings: Sequence[Finding] | None = None
    note: str = ""
    parts: Sequence[Part] = ()
    """Whatever needs an order of its own; it comes after the text."""
    short: str = ""
    """Its name in the list of sections; without one, the heading."""

    @property
    def name(self) -> str:
        """What it is called in the list of sections."""
        return self.short or self.heading

    @property
    def anchor(self) -> str:
        """What links to it end with, unless another section has the same name."""
        return "-".join("".join(letter if letter.isalnum() else " " for letter in self.name.casefold()).split())


@dataclass(frozen=True)
class Tile:
    """A number of the verdict, large."""

    name: str
    row: Measurement
    colour: str = "random"
    """random, independent or hard."""


@dataclass(frozen=True)
class Page:
    """What `report.html` shows of a run, and what the command line prints of it."""

    kind: str
    """The kind of run, in words."""
    title: str
    verdict: Verdict
    subtitle: str = ""
    note: str = ""
    """Under the verdict: how to read it."""
    sections: Sequence[Section] = ()
    tables: Mapping[str, Table] = field(default_factory=dict)
    """By the name of their file; written as CSV, Markdown and LaTeX."""
    printed: Sequence[Table] = ()
    """Tables that the command line prints before the verdict."""
    printed_findings: Sequence[Finding] = ()
    """Findings that it prints."""
    files: Mapping[str, str] = field(default_factory=dict)
    """What else lies in the folder: {"leaked rows by id": "leaks.csv"}."""
    tiles: Sequence[Tile] = ()
    points: bytes = b""
    """The texts as points, packed, for the map that is drawn by a script; without them the page has no script."""
    picture: Callable[[], str] | None = None
    """Draws what a notebook shows below the tables."""

    @property
    def brief(self) -> Sequence[Table]:
        """Tables for where there is room for few: those that are printed, else the first that has a file."""
        return self.printed or [*self.tables.values()][:1]

    @property
    def anchored(self) -> dict[str, Section]:
        """The sections by what links to them end with."""
        anchors: dict[str, Section] = {}
        for place, section in enumerate(self.sections, start=1):
            taken = not section.anchor or section.anchor in (*anchors, "files", "computed", "verdict", "todo")
            anchors[f"section-{place}" if taken else section.anchor] = section
        return anchors


def write_page(record: RunRecord, page: Page) -> Path:
    """Write `report.html` and the tables into the folder of a run; returns the page. The same run, the same bytes."""
    folder = record.place
    for name, table in page.tables.items():
        for suffix, write in FORMATS.items():
            write_text(folder / "tables" / f"{name}.{suffix}", write(table))
    html = environment().get_template("run.html").render(
        page=page,
        verdict=page.verdict,
        about=record.about,
        gates=record.about.get("gates") or [],
        settings=flattened(record.about.get("settings") or {}).items(),
        finished=moment(record.about.get("finished")),
        versions=record.versions.items(),
        computed=computed([*record.measurements, *record.properties]),
        seconds=record.seconds,
        steps=len(record.about.get("timings") or ()),
        formats=list(FORMATS),
        navigated=NAVIGATED,
        script=(script := scripts("points.js", "page.js")),
        script_hash=hash_of(script),
    )  # fmt: skip
    # a lone surrogate in a name has no place in a file
    return write_text(folder / "report.html", html.encode("utf-8", "replace").decode("utf-8"))


@cache
def environment() -> Environment:
    """Templates that escape everything and miss nothing silently; each is compiled once."""
    templates = Environment(
        loader=PackageLoader("unseen.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    templates.filters |= {
        "number": numbers.number,
        "measured": lambda outcome: GateOutcome(**outcome).measured,
        "bounds": numbers.bounds,
        "percent": numbers.percent,
        "softly": softly,
        "gzipped": gzipped,
        "duration": wording.duration,
        "unbroken": wording.unbroken,
        "thousands": lambda count: f"{count:,}" if isinstance(count, int) else str(count),
    }
    return templates


def scripts(*names: str) -> str:
    """Scripts of the templates as one."""
    return "".join((TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def hash_of(script: str) -> str:
    """How a content security policy names a script that may run."""
    return f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}"


def gzipped(content: bytes) -> str:
    """Bytes as text for a page, the same each time. Small blocks give each column of points a code of its own."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits=31, memLevel=5, strategy=zlib.Z_FILTERED)
    return b64encode(packer.compress(content) + packer.flush()).decode()


def softly(cell: object) -> Markup:
    """The cell of a table with its interval in small print."""
    return Markup(INTERVAL.sub(r'<span class="soft">\g<0></span>', str(escape(cell))))


def drawn(template: str, **context: Any) -> Markup:
    """A picture or list that a template of its own draws."""
    return Markup(environment().get_template(template).render(**context))


def two_widths(chart: Callable[[bool], str]) -> Markup:
    """A chart for wide screens and for narrow ones; `chart` draws it and is told whether narrowly."""
    figures = (f'<figure class="chart on-{room}">{chart(room == "narrow")}</figure>' for room in ("wide", "narrow"))
    return Markup("".join(figures))


def with_lines(tables: Mapping[str, Table]) -> dict[str, Table]:
    """Those of these tables that have a line."""
    return {name: table for name, table in tables.items() if table.rows}


def counted(counts: Mapping[str, int]) -> str:
    """Rows per label or part: `train 800, test 200`."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def sorted_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The gravest first."""
    return sorted(findings, key=lambda finding: LEVEL_ORDER.index(finding.level))


def worst_level(findings: Sequence[Finding]) -> str:
    """The gravest level; `skipped` without findings."""
    return min((finding.level for finding in findings), key=LEVEL_ORDER.index, default="skipped")


def moment(stamp: Any) -> str:
    """A time stamp to the minute; anything else as it is."""
    try:
        return datetime.fromisoformat(str(stamp)).strftime("%Y-%m-%d %H:%M %Z").strip()
    except ValueError:
        return str(stamp or "")
