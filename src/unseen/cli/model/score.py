"""`unseen model score`: metrics of predictions somebody made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, print_table, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import Groups, Json, Map, Metrics, Quiet, Seed, Slice, Split, pairs, split_of
from unseen.cli.target import check_measurements

NO_INTERVAL = {
    "few_groups": "the groups are worth only {} of equal size, too few to tell how groups differ",
    "few_rows": "the rarest label has only {:,} rows, too few in an average over so many labels",
    "no_spread": "rows drawn again all give the same score",
}
"""What tags of `unseen.evaluation.intervals` mean."""


@takes_data
def score(
    data: Any,
    predictions: Annotated[
        Path, typer.Argument(help="CSV or Parquet: id and a probability per label, or a prediction.")
    ],
    split: Split = None,
    metric: Metrics = None,
    slice_by: Slice = None,
    groups: Groups = None,
    compare: Annotated[
        Path | None, typer.Option(help="Predictions of another model: differences on the same rows, with p.")
    ] = None,
    rename: Map = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score predictions of any model: metrics with 95 % intervals, by part and by slice.

    Example: unseen model score posts.csv predictions.csv --text text --label label --split hard.csv -m f1.macro
    """
    from unseen import api
    from unseen.evaluation import DEFAULT_METRICS
    from unseen.store import read_predictions, write_measurements

    check_measurements(out)
    with notes(quiet), progress(quiet):
        parted = split_of(data, split)
        options: dict[str, Any] = {"metrics": metric or list(DEFAULT_METRICS), "slices": slice_by or []}
        options |= {"groups": groups, "seed": seed}
        files = [path for path in (predictions, compare) if path is not None]
        own, *other = (read_predictions(path, data, pairs(rename, "--map")) for path in files)
        rows = api.score(data, own, parted, **options)
        differences = api.compare(data, own, other[0], parted, **options) if other else []
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
    for line in _without_interval([*rows, *differences]):
        say(line)


def _without_interval(rows: Sequence[Any]) -> Iterator[str]:
    """Why some have no interval, a line for each reason."""
    for tag, reason in NO_INTERVAL.items():
        refused = [row for row in rows if tag in row.tags]
        if refused:
            metrics = ", ".join(dict.fromkeys(row.metric for row in refused))
            yield f"no interval for {metrics}: {reason.format(min(row.tags[tag] for row in refused))}"


def _cells(row: Any) -> list[str]:
    value = "-" if row.value is None else f"{row.value:.4f}"
    bounds = "-" if row.low is None or row.high is None else f"[{row.low:.4f}, {row.high:.4f}]"
    return [str(row.tags.get("part", "all")), row.slice, row.metric, value, bounds, f"{row.n:,}"]
