"""`unseen demo`: the whole job on the bundled sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import Json, Quiet, notes, print_result, progress
from unseen.cli.model import Model


def demo(
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")] = Path("out/demo"),
    model: Model = "neural",
    seed: Annotated[int, typer.Option(help="Seed.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the whole job on a bundled synthetic sample: train, split, retrain, measure, report. No network.

    Example: unseen demo --out out/demo
    """
    from unseen.demo import demo as run_demo

    with notes(quiet), progress(quiet):
        result = run_demo(out, model, seed)
    print_result(result, as_json)
