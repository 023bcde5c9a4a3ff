"""`unseen model encode`: one vector per text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import Json, Layer, Pooling, Quiet, Seed, Trust
from unseen.cli.target import check_target


@takes_data
def encode(
    data: Any,
    encoder: Annotated[
        str, typer.Option(help="An encoder ('unseen model ls'), a model folder, a transformer's folder or hub name.")
    ] = "tfidf",
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the vectors.")] = Path("vectors.npy"),
    pooling: Pooling = None,
    layer: Layer = None,
    reduce: Annotated[str | None, typer.Option(help="pca or umap, to --dimensions numbers.")] = None,
    dimensions: Annotated[int | None, typer.Option(help="Numbers per vector. (default: the encoder's; 50)")] = None,
    trust: Trust = False,
    seed: Seed = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Turn texts into vectors. Interrupted and started again, a transformer goes on where it stopped.

    Example: unseen model encode posts.csv --text text --label label --encoder tfidf -o vectors.npy
    """
    from unseen import api
    from unseen.representations.partial_vectors import forget
    from unseen.store import write_embeddings

    check_target(out, ".npy")
    given = {"dimensions": dimensions, "pooling": pooling, "layer": layer, "trust": trust or None}
    params: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    partial = out.with_name(f".{out.stem}.partial.npy")
    with notes(quiet), progress(quiet):
        vectors = api.encode(data, encoder, reduce=reduce, seed=seed, partial=partial, **params)
        write_embeddings(vectors, out, data)
        forget(partial)
    rows, width = vectors.vectors.shape
    if as_json:
        print_json({"file": out, "rows": rows, "dimensions": width, "encoder": vectors.origin.step})
    else:
        say(f"{out}: {rows:,} vectors of {width} numbers by {vectors.origin.step}")
