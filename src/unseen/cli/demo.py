"""`unseen demo`: the whole job on the bundled sample."""

from __future__ import annotations

from pathlib import Path

from unseen.cli.console import notes, print_result, progress
from unseen.cli.options import Json, Junit, Model, Quiet, RunFolder, Seed, Summary


def demo(
    out: RunFolder = Path("out/demo"),
    model: Model = "neural",
    seed: Seed = 42,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the whole job on a bundled synthetic sample: train, split, retrain, measure, report. No network.

    Example: unseen demo --out out/demo
    """
    from unseen.demo import demo as run_demo

    with notes(quiet), progress(quiet):
        result = run_demo(out, model, seed)
    print_result(result, as_json, junit, summary)
