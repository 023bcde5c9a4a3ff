"""The pages of the viewer, the same for a server and for a folder of files."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader

from unseen.errors import UnseenError
from unseen.reports.page import environment, gzipped, hash_of, moment, scripts
from unseen.viewer.opened import MOST_CASES, OpenRun
from unseen.viewer.tasks import Task

OWN = Path(__file__).parent / "templates"
COMPARED = 5
"""Runs that the page of a run offers to compare it with."""


def rendered(template: str, script: str = "", connect: bool = False, **context: Any) -> str:
    """A page with its one script; `connect` lets it ask the server that it came from, and nobody else."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
    policy += f"; script-src '{hash_of(script)}'" if script else ""
    policy += "; connect-src 'self'" if connect else ""
    return _templates().get_template(template).render(script=script, policy=policy, moment=moment, **context)


@cache
def _templates() -> Environment:
    """Those of the viewer before those of reports."""
    of_reports = environment()
    assert of_reports.loader is not None
    return of_reports.overlay(loader=ChoiceLoader([PackageLoader("unseen.viewer"), of_reports.loader]))


def own_script(*names: str) -> str:
    """The script of the points, and those of the viewer that are named."""
    return scripts("points.js") + "".join((OWN / name).read_text(encoding="utf-8") for name in names)


def embedded(content: Any) -> str:
    """JSON in a page, packed, so that nothing in it can end the element that it stands in."""
    return b64encode(gzip.compress(json.dumps(content).encode(), mtime=0)).decode()


def beside(runs: Sequence[OpenRun], number: int) -> list[int]:
    """The runs that the page of one of them offers to compare it with."""
    return [other for other in range(len(runs)) if other != number][:COMPARED]


def list_page(runs: Sequence[OpenRun], address: Mapping[int, Mapping[str, str]]) -> str:
    """All runs: kind, what it says, when it was done; `address` has the pages of each by name."""
    return rendered("list.html", runs=runs, address=address, tabs={})


def explorer_page(run: OpenRun, tabs: Mapping[str, str], whole: bool) -> str:
    """The map and the table of the texts of a run; `whole` has everything in the page, else a server is asked."""
    points = texts = ""
    if whole and run.points is not None:
        points = gzipped(run.packed)
        texts = "" if run.texts is None else embedded(run.texts.to_pylist())
    script = own_script("explorer.js")
    return rendered("explorer.html", script, not whole, run=run, tabs=tabs, points=points, texts=texts)


def pairs_page(run: OpenRun, tabs: Mapping[str, str]) -> str:
    """Near-duplicates beside each other, with what differs marked."""
    return rendered("pairs.html", run=run, tabs=tabs)


def cases_page(run: OpenRun, tabs: Mapping[str, str]) -> str:
    """Failed cases of a suite."""
    return rendered("cases.html", run=run, tabs=tabs, most=MOST_CASES)


def comparison_page(a: OpenRun, b: OpenRun, tabs: Mapping[str, str]) -> str:
    """Two runs side by side: what changed, and both verdicts."""
    from unseen.reports.comparison import compare_runs
    from unseen.reports.comparison_text import changes, headline, remarks, tables, warnings

    try:
        compared = compare_runs(a.folder, b.folder)
        shown = tables(compared)
        lines = [headline(compared), *remarks(compared), *warnings(compared)]
        listed = changes(compared)
    except UnseenError as error:
        shown, lines, listed = [], str(error).splitlines(), []
    return rendered("compare.html", a=a, b=b, tabs=tabs, tables=shown, lines=lines, changes=listed)


def task_page(task: Task, tabs: Mapping[str, str]) -> str:
    """The page of a task."""
    return rendered(task.page, own_script("ask_task.js", task.script), True, task=task, tabs=tabs)
