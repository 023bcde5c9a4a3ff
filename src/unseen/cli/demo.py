"""`unseen demo`: the whole job on the bundled sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import Json, Quiet, notes, print_json, print_table, progress


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("out/demo"),
    seed: Annotated[int, typer.Option(help="Seed.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run the whole job on a bundled synthetic sample: vectors, three splits, a report. No network.

    Example: unseen demo --out out/demo
    """
    from unseen.demo import demo as run_demo
    from unseen.reports.page import split_row, verdict

    with notes(quiet), progress(quiet):
        data, splits, measured = run_demo(out, seed)
    rows = [split_row(data, split, measured) for split in splits]
    if as_json:
        distances = {
            row["split"].name: {"distance": row["distance"].value, "ratio": row["ratio"].value} for row in rows
        }
        print_json({"report": out / "report.html", "verdict": verdict(rows), "splits": distances})
        return
    lines = [["split", "train", "test", *(f"{name}, train/test" for name in data.label_names), "distance", "ratio"]]
    for row in rows:
        mixes = [f"{a:.1%} / {b:.1%}" for a, b in zip(row["mix"]["train"], row["mix"]["test"], strict=True)]
        sizes = [f"{row['sizes'][part]:,}" for part in ("train", "test")]
        lines.append([row["split"].name, *sizes, *mixes, f"{row['distance'].value:.3f}", f"{row['ratio'].value:.2f}"])
    print_table(lines, numbers_from=1)
    typer.echo(f"\n{verdict(rows)}\n\nreport: {out / 'report.html'}")
