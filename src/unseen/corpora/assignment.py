"""The nearest centre of every row of a corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from threadpoolctl import threadpool_limits

from unseen.corpora.centres import Centres, read_centres, rows_of
from unseen.corpora.shards import Shards, finished, from_bytes, open_shards, to_bytes, write_shard
from unseen.corpora.workers import Workers
from unseen.errors import VectorsError
from unseen.progress import track
from unseen.splits import kernels
from unseen.splits.neighbours import assign_all
from unseen.splits.vectors import unit_rows
from unseen.types.arrays import Vectors


def assign(
    vectors: Shards | str | Path,
    centres: Centres | str | Path,
    out: str | Path,
    *,
    address: str | None = None,
    workers: int | None = None,
) -> Shards:
    """A folder `out` of Parquet shards with id, cluster and distance of every row; goes on where it was interrupted.

    The cluster is the number of the nearest centre, the same as `unseen.splits` assigns. The distance is Euclidean;
    for cosine centres it is that between directions, √(2 − 2 cos). `about["sizes"]` has the rows per cluster.
    """
    actors = Workers(address, workers)
    given = vectors if isinstance(vectors, Shards) else open_shards(vectors, "vectors")
    centres = centres if isinstance(centres, Centres) else read_centres(centres)
    folder = Path(out)
    # a shard's name is its content, so this is that of the result
    digests = {shard: hashlib.sha256(f"assign 1 {shard} {centres.key}".encode()) for shard in given.shards}
    names = {digest.hexdigest()[:32]: shard for shard, digest in digests.items()}
    done = finished(folder, names)
    missing = [f"{key} {given.file(shard).resolve()}" for key, shard in names.items() if key not in done]
    if missing:
        results = actors.results(missing, read_shard, partial(assigned, centres.vectors, centres.metric))
        for key, content in track(results, "assigning", len(missing)):
            write_shard(folder, key, content)
    about = {"k": len(centres.vectors), "metric": centres.metric, "centres": centres.key, "of": given.about}
    result = Shards(folder, "clusters", {key: given.shards[shard] for key, shard in names.items()}, about)
    sizes = np.zeros(len(centres.vectors), np.int64)
    for _, table in result.tables(["cluster"]):
        sizes += np.bincount(table["cluster"].to_numpy(), minlength=len(sizes))
    return Shards(folder, "clusters", result.shards, about | {"sizes": sizes.tolist()}).write_manifest()


def read_shard(place: str) -> Iterator[tuple[str, bytes]]:
    """The one piece that is a shard."""
    key, _, path = place.partition(" ")
    yield key, Path(path).read_bytes()


def assigned(centres: Vectors, metric: str, content: bytes) -> bytes:
    """Ids and vectors to ids, clusters and distances."""
    table = from_bytes(content)
    clusters, distances = nearest(rows_of(table["vector"]), centres, metric)
    return to_bytes(pa.table({"id": table["id"], "cluster": clusters, "distance": distances}))


def nearest(rows: Vectors, centres: Vectors, metric: str) -> tuple[npt.NDArray[np.int32], Vectors]:
    """The nearest centre of each row and its distance, by the kernels of the splitters."""
    if rows.shape[1] != centres.shape[1]:
        raise VectorsError(
            f"the centres have {centres.shape[1]} numbers, the vectors {rows.shape[1]}",
            fix="use centres of these vectors: unseen data corpus centres",
        )
    shift = centres.mean(axis=0, dtype=np.float64).astype(np.float32) * (metric == "euclidean")
    moved = np.ascontiguousarray(centres - shift)  # near zero float32 is finest
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(1) as pool:
        ((labels, _),) = assign_all(rows, np.ones(len(rows), np.float32), shift, metric, [moved], pool)
    own = unit_rows(rows) if metric == "cosine" else np.ascontiguousarray(rows - shift)
    distances = np.empty(len(rows), np.float32)
    kernels.tighten(own, moved, labels, distances)
    return labels, distances
