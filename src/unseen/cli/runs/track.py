"""`unseen runs track`: a finished run in MLflow or Weights & Biases."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, printable, say
from unseen.cli.options import ExampleTexts, Json, Quiet


def track(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    to: Annotated[str, typer.Option(help="mlflow or wandb; where it lies is up to its own setup.")],
    project: Annotated[str | None, typer.Option(help="Experiment of MLflow, or project of W&B.")] = None,
    texts: ExampleTexts = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Log the settings, scores and files of a finished run to a tracker.

    Example: unseen runs track out --to mlflow --project classifiers
    """
    from unseen.reports.tracking import track as log

    logged = log(run, to, project=project, texts=texts)
    if as_json:
        print_json(asdict(logged))
    elif not quiet:
        where = f" at {logged.address}" if logged.address else ""
        say(printable(f"{logged.to} run {logged.run}{where}: {logged.metrics} numbers, {logged.files} files"))
