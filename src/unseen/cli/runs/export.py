"""`unseen runs export`: the scores of a run as the Hugging Face hub reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, say
from unseen.cli.options import Json, Quiet
from unseen.errors import InputError


def export(
    run: Annotated[Path, typer.Argument(help="Folder of a stress run, or one of unseen.report(model, X, y).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to; must not exist, or be empty.")],
    dataset: Annotated[
        str | None, typer.Option(metavar="OWNER/NAME", help="Id of the data on the hub; writes .eval_results too.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the scores of a run as the head of a model card, and as .eval_results of the Hugging Face hub.

    Example: unseen runs export out --dataset owner/posts -o model-page
    """
    from unseen.reports.hub_results import write_hub_results
    from unseen.runs.frame import report

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already", fix="name another folder")
    written = write_hub_results(report(run), out, dataset)
    if as_json:
        print_json({"files": written})
    elif not quiet:
        say("\n".join(map(str, written)))
