"""`unseen score`: metrics of predictions somebody made."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.analyse import read_any_split
from unseen.cli.console import Json, Quiet, notes, print_json, print_table, progress, say
from unseen.cli.model import Map
from unseen.cli.source import pairs, takes_data
from unseen.cli.target import check_measurements


@takes_data
def score(
    data: Any,
    predictions: Annotated[
        Path, typer.Argument(help="CSV or Parquet: id and a probability per label, or a prediction.")
    ],
    split: Annotated[str | None, typer.Option(help="A split file: each part is scored on its own.")] = None,
    metric: Annotated[list[str] | None, typer.Option("--metric", "-m", help="A metric; 'unseen ls metrics'.")] = None,
    slice_by: Annotated[
        list[str] | None, typer.Option("--slice", help="A column to slice by; may be repeated.")
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Attribute drawn together in the bootstrap, e.g. an author.")
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Predictions of another model: differences on the same rows, with p.")
    ] = None,
    rename: Map = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score predictions of any model: metrics with 95 % intervals, by part and by slice.

    Example: unseen score posts.csv predictions.csv --text text --label label --split hard.csv -m f1.macro
    """
    from unseen import api
    from unseen.evaluation import DEFAULT_METRICS
    from unseen.store import read_predictions, write_measurements

    check_measurements(out)
    with notes(quiet), progress(quiet):
        found = None if split is None else read_any_split(split, data)
        options: dict[str, Any] = {"metrics": metric or list(DEFAULT_METRICS), "slices": slice_by or []}
        options |= {"groups": groups, "seed": seed}
        said, *other = (
            read_predictions(each, data, pairs(rename, "--map")) for each in (predictions, compare) if each is not None
        )
        rows = api.score(data, said, found, **options)
        differences = api.compare(data, said, other[0], found, **options) if other else []
        if out is not None:
            write_measurements([*rows, *differences], out)
    if out is not None and not quiet:
        say(f"note: written: {out}", err=True)
    if as_json:
        print_json([asdict(row) for row in [*rows, *differences]])
        return
    print_table([["part", "slice", "metric", "value", "95 % interval", "n"], *map(_cells, rows)], numbers_from=3)
    if differences:
        say()
        head = ["part", "slice", f"less {compare}", "value", "95 % interval", "n", "p"]
        lines = [[*_cells(row), f"{row.tags['p']:.4f}" if "p" in row.tags else "-"] for row in differences]
        print_table([head, *lines], numbers_from=3)


def _cells(row: Any) -> list[str]:
    value = "-" if row.value is None else f"{row.value:.4f}"
    bounds = "-" if row.low is None or row.high is None else f"[{row.low:.4f}, {row.high:.4f}]"
    return [str(row.tags.get("part", "all")), row.slice, row.metric, value, bounds, f"{row.n:,}"]
