"""`unseen report`: the page of a run, written again from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import Json, Quiet, print_json


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a run of 'unseen stress'.")],
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write report.html again from the files of a run folder, and print the verdict.

    Example: unseen report out
    """
    from unseen.reports.run import read_run
    from unseen.reports.stress_page import write_stress_page
    from unseen.reports.verdict import verdict

    page = write_stress_page(run)
    said = verdict(read_run(run))
    if as_json:
        print_json({"report": page, "level": said.level, "verdict": [said.headline, *said.sentences]})
    else:
        typer.echo(f"{said}\n\nreport: {page}")
