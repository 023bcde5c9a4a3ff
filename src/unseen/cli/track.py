"""`unseen track`: a finished run in MLflow or Weights & Biases."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import Json, Quiet, print_json, printable, say


def track(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    to: Annotated[str, typer.Option(help="mlflow or wandb; where it lies is up to its own setup.")],
    project: Annotated[str | None, typer.Option(help="Experiment of MLflow, or project of W&B.")] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Also a report that holds texts of the data.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Log the settings, scores and files of a finished run to a tracker.

    Example: unseen track out --to mlflow --project classifiers
    """
    from unseen.reports.tracking import track as log

    found = log(run, to, project=project, texts=texts)
    if as_json:
        print_json(asdict(found))
    elif not quiet:
        where = f" at {found.address}" if found.address else ""
        say(printable(f"{found.to} run {found.run}{where}: {found.metrics} numbers, {found.files} files"))
