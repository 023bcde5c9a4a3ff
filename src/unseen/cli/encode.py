"""`unseen encode`: one vector per text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import Json, Quiet, notes, print_json, progress
from unseen.cli.source import takes_data
from unseen.cli.target import check_target


@takes_data
def encode(
    data: Any,
    model: Annotated[str, typer.Option(help="Encoder; 'unseen ls encoders' lists them.")] = "tfidf",
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the vectors.")] = Path("vectors.npy"),
    dimensions: Annotated[int | None, typer.Option(help="Numbers per vector. (default: the encoder's)")] = None,
    seed: Annotated[int, typer.Option(help="Seed.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn texts into vectors.

    Example: unseen encode posts.csv --text text --label label --model tfidf -o vectors.npy
    """
    from unseen import api
    from unseen.store import write_embeddings

    check_target(out, ".npy")
    params = {} if dimensions is None else {"dimensions": dimensions}
    with notes(quiet), progress(quiet):
        vectors = api.encode(data, model, seed=seed, **params)
        write_embeddings(vectors, out, data)
    rows, width = vectors.vectors.shape
    if as_json:
        print_json({"file": out, "rows": rows, "dimensions": width, "encoder": vectors.origin.step})
    else:
        typer.echo(f"{out}: {rows:,} vectors of {width} numbers by {vectors.origin.step}")
