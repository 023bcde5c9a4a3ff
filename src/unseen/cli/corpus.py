"""`unseen data corpus`: vectors and clusters of texts that do not fit into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.frame import Reply, gives_reply
from unseen.cli.options import Address, Distance, Layer, Pooling, Seed, Trust, only_given

app = typer.Typer(
    help="Corpora that do not fit into memory, on Ray: encode, find centres, assign.", no_args_is_help=True
)

Vectors = Annotated[Path, typer.Argument(help="Folder that 'unseen data corpus encode' has written.")]
Workers = Annotated[int | None, typer.Option(help="Workers. (default: as many as there is room for)")]


@app.command("encode")
@gives_reply
def encode(
    source: Annotated[
        list[str], typer.Argument(help="Parquet, CSV or JSONL files, folders of Parquet files, patterns.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the vectors.")],
    encoder: Annotated[
        str, typer.Option(help="As of 'unseen model encode', but for those that must see all texts.")
    ] = "minilm",
    text: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    id: Annotated[
        str | None, typer.Option(help="Column of the ids. (default: a column 'id', else made from the texts)")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Texts in a shard. (default: 8192)")] = None,
    pooling: Pooling = None,
    layer: Layer = None,
    precision: Annotated[str | None, typer.Option(help="Of a transformer: auto, fp32 or bf16.")] = None,
    trust: Trust = False,
    address: Address = None,
    workers: Workers = None,
    gpus: Annotated[float, typer.Option(help="GPUs of each worker.")] = 0,
) -> Reply:
    """Turn a corpus into shards of vectors. Interrupted and started again, it goes on where it stopped.

    Example: unseen data corpus encode texts/ --id id --encoder minilm --address auto -o vectors/
    """
    from unseen.corpora import encode_corpus
    from unseen.corpora.vectors import BATCH

    made = encode_corpus(
        source, encoder, out, text=text, id=id, batch=BATCH if batch is None else batch,
        address=address, workers=workers, gpus=gpus,
        **only_given(pooling=pooling, layer=layer, precision=precision, trust=trust or None),
    )  # fmt: skip
    return _reply(made, f"vectors by {made.about['encoder']}")


@app.command("centres")
@gives_reply
def centres(
    vectors: Vectors,
    k: Annotated[int, typer.Option("-k", "--centres", help="Number of centres.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the centres.")] = Path("centres.npy"),
    sample: Annotated[int | None, typer.Option(help="Rows the centres come from. (default: 100,000)")] = None,
    distance: Distance = "euclidean",
    seed: Seed = 42,
) -> Reply:
    """Find the centres of clusters in a sample of a corpus's vectors; in this process, without Ray.

    Example: unseen data corpus centres vectors/ -k 50 -o centres.npy
    """
    from unseen.corpora import fit_centres, write_centres
    from unseen.splits.clustering import SAMPLE

    fitted = fit_centres(vectors, k, sample=SAMPLE if sample is None else sample, metric=distance, seed=seed)
    write_centres(fitted, out)
    return Reply(
        {"file": out, "k": k, "distance": distance, "sample": fitted.about["sample"]},
        f"{out}: {k} centres of {fitted.about['sample']:,} of {fitted.about['rows']:,} rows, {distance}",
    )


@app.command("assign")
@gives_reply
def assign_rows(
    vectors: Vectors,
    centres: Annotated[Path, typer.Argument(help="File that 'unseen data corpus centres' has written.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the clusters.")],
    address: Address = None,
    workers: Workers = None,
) -> Reply:
    """Find the nearest centre of every row and its distance. Started again, it goes on where it stopped.

    Example: unseen data corpus assign vectors/ centres.npy --address auto -o clusters/
    """
    from unseen.corpora import assign

    made = assign(vectors, centres, out, address=address, workers=workers)
    return _reply(made, f"rows in {made.about['k']} clusters")


def _reply(made: Any, what: str) -> Reply:
    return Reply(
        {"folder": made.path, "rows": made.rows, "shards": len(made.shards), **made.about},
        f"{made.path}: {made.rows:,} {what} in {len(made.shards)} shards",
    )
