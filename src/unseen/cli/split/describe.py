"""`unseen split describe`: what a split is like, whoever made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, print_table, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    Distance,
    Encoder,
    Groups,
    Json,
    Neutral,
    Parts,
    Quiet,
    Split,
    Vectors,
    needed_split,
    vectors_source,
)
from unseen.cli.split.make import print_split


@takes_data
def describe(
    data: Any,
    split: Split = None,
    parts: Parts = None,
    vectors: Vectors = None,
    encoder: Encoder = None,
    distance: Distance = "cosine",
    category: Annotated[
        list[str] | None, typer.Option(help="An attribute (-a) to take as a category; may be repeated.")
    ] = None,
    groups: Groups = None,
    neutral: Neutral = None,
    english: Annotated[Path | None, typer.Option(help="English words, one per line, for the rare words.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe a split: sizes, class mix, how far test is from training, words, and the attributes of -a.

    Example: unseen split describe posts.csv --split hard.csv --text text --label label --vectors vectors.npy -a source
    """
    from unseen import api

    using = vectors_source(vectors, encoder)
    with notes(quiet), progress(quiet):
        parted = needed_split(data, split, parts)
        measured = api.analyse(
            data,
            parted,
            using or api.DEFAULT_ENCODER,
            metric=distance,
            categories=category or None,
            groups=None if groups is None else [groups],
            neutral=neutral,
            english=english,
        )
    if as_json:
        print_json([asdict(row) for row in measured])
        return
    print_split(data, parted)
    for row in measured:
        if row.metric.startswith("nearest") and row.value is not None:
            interval = f" [{row.low:.4f}, {row.high:.4f}]" if row.low is not None else ""
            say(f"{row.metric}: {row.value:.4f}{interval} (n = {row.n:,})")
    _print_properties(measured)


def _print_properties(measured: Sequence[Any]) -> None:
    """One line per property: its value on each side, and the interval of that of the test part."""
    own = [row for row in measured if row.metric not in ("rows", "label_share") and not row.metric.startswith("near")]
    shown: dict[str, dict[str, Any]] = {}
    for row in own:
        if row.metric != "train_share" or row.value < 0.5:
            name = row.metric if row.slice == "all" else f"{row.metric}[{row.slice}]"
            shown.setdefault(name, {})[row.tags["part"]] = row
    lines = [["property", "train", "test", "95 % interval"]]
    lines += [[name, _figure(sides.get("train")), *_with_interval(sides["test"])] for name, sides in shown.items()]
    if len(lines) > 1:
        say("")
        print_table(lines, numbers_from=1)


def _with_interval(row: Any) -> tuple[str, str]:
    return _figure(row), "" if row.low is None else f"[{row.low:.3f}, {row.high:.3f}]"


def _figure(row: Any) -> str:
    if row is None or row.value is None:
        return "" if row is None else "-"
    return f"{row.value:.0f} of {row.n}" if row.metric.startswith("under_represented.") else f"{row.value:.3f}"
