"""`unseen runs report`: the page of a run, written again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, say, write_for_builds
from unseen.cli.options import Json, Junit, Quiet, Summary


def report(
    run: Annotated[Path, typer.Argument(help="Folder of any run, -o of the command.")],
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write report.html again from the files of a run folder, and print the verdict.

    Example: unseen runs report out
    """
    from unseen.runs.frame import report as written

    result = written(run)
    write_for_builds(result, junit, summary)
    if as_json:
        print_json(result.described())
    else:
        say("\n".join([*result.verdict.lines(), "", f"report: {result.report}"]))
