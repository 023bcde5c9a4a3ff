"""`unseen analyse`: what a split is like, whoever made it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import Json, Quiet, notes, print_json, progress
from unseen.cli.source import takes_data
from unseen.cli.split import describe
from unseen.errors import InputError


@takes_data
def analyse(
    data: Any,
    split: Annotated[str, typer.Argument(help="A split file of ours, or a table, JSON or list of somebody else's.")],
    vectors: Annotated[Path | None, typer.Option(help="Vectors (.npy) for the distance.")] = None,
    encoder: Annotated[str | None, typer.Option(help="Encoder for the distance. (default: tfidf)")] = None,
    metric: Annotated[str, typer.Option(help="cosine or euclidean.")] = "cosine",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Describe a split: sizes, class mix, and how far its test part is from its training part.

    Example: unseen analyse posts.csv hard.csv --text text --label label --vectors vectors.npy
    """
    from unseen import api

    if vectors is not None and encoder is not None:
        raise InputError("--encoder has no effect with --vectors", fix="leave one of them out")
    with notes(quiet), progress(quiet):
        found = read_any_split(split, data)
        measured = api.analyse(data, found, vectors or encoder or api.DEFAULT_ENCODER, metric=metric)
    if as_json:
        print_json([asdict(row) for row in measured])
        return
    describe(data, found)
    for row in measured:
        if row.metric.startswith("nearest") and row.value is not None:
            interval = f" [{row.low:.4f}, {row.high:.4f}]" if row.low is not None else ""
            typer.echo(f"{row.metric}: {row.value:.4f}{interval} (n = {row.n:,})")


def read_any_split(path: str, data: Any) -> Any:
    """The split in `path`: ours when its certificate lies beside it, else one of somebody else's."""
    from unseen import api
    from unseen.store import read_split

    if Path(path).suffix == ".csv" and Path(path).with_suffix(".json").exists():
        return read_split(path, data)
    return api.split(data, "predefined", by=path, name=Path(path).stem)
