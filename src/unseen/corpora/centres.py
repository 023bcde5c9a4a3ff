"""Centres of the clusters of a corpus, from a sample of its vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.corpora.shards import Shards, open_shards
from unseen.corpora.texts import hashes_of
from unseen.errors import InputError, VectorsError
from unseen.progress import track
from unseen.splits.clustering import SAMPLE, sweep
from unseen.splits.neighbours import check_metric
from unseen.splits.vectors import scramble
from unseen.store.files import atomic, holds, read_json, sha256_of, twin_of, write_json
from unseen.types import finite_float32
from unseen.types.arrays import Vectors

KEYS = {"metric", "npy_sha256", "about"}


@dataclass(frozen=True, eq=False)
class Centres:
    """Centres [k, d] of clusters, and how far from them a row is."""

    vectors: Vectors
    metric: str = "euclidean"
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or not self.vectors.size:
            raise VectorsError("centres must be a table", expected="shape [k, numbers]", got=f"{self.vectors.shape}")
        check_metric(self.metric)
        object.__setattr__(self, "vectors", np.ascontiguousarray(finite_float32(self.vectors)))

    @property
    def key(self) -> str:
        """Hash of everything that decides an assignment."""
        return hashlib.sha256(f"{self.metric} {self.vectors.shape}".encode() + self.vectors.tobytes()).hexdigest()


def fit_centres(
    vectors: Shards | str | Path, k: int, *, sample: int = SAMPLE, metric: str = "euclidean", seed: int = 42,
    n_init: int = 10,
) -> Centres:  # fmt: skip
    """`k` centres by the k-means of the splitters, on `sample` rows drawn by their ids.

    Which rows are drawn, and so the centres, depends on ids and seed, not on the order or number of shards. With
    fewer rows than `sample` all are taken. A cluster of fewer rows than one in `sample` is likely to be missed.
    """
    shards = vectors if isinstance(vectors, Shards) else open_shards(vectors, "vectors")
    if sample < k:
        raise InputError(f"{k} centres need at least as many rows", got=f"sample={sample}")
    rows = sample_rows(shards, sample, seed)
    (clustering,) = sweep(rows, [k], metric=metric, n_init=n_init, seed=seed)
    about = {"k": k, "sample": len(rows), "rows": shards.rows, "seed": seed, "n_init": n_init, "of": shards.about}
    return Centres(clustering.centres, metric, about)


def sample_rows(shards: Shards, sample: int, seed: int) -> Vectors:
    """The vectors of the `sample` rows whose scrambled ids are smallest; 8 bytes per row in memory besides."""
    ids = track(shards.tables(["id"]), "drawing a sample", len(shards.shards))
    ranks = {shard: scramble(hashes_of(table["id"]), seed) for shard, table in ids}
    every = np.concatenate(list(ranks.values()))
    last = np.partition(every, sample - 1)[sample - 1] if sample < len(every) else np.uint64(2**64 - 1)
    vectors = track(shards.tables(["vector"]), "reading the sample", len(shards.shards))
    return np.concatenate([rows_of(table["vector"])[ranks[shard] <= last] for shard, table in vectors])


def rows_of(column: pa.ChunkedArray) -> Vectors:
    """A column of fixed-size lists as a table of numbers [rows, d]."""
    width = column.type.list_size
    flat: Vectors = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.asarray(flat, np.float32).reshape(-1, width)


def write_centres(centres: Centres, path: str | Path) -> Path:
    """Write the centres to `path` (.npy), and how they were made beside them (.json)."""
    path = Path(path)
    if path.suffix != ".npy":
        raise VectorsError(f"centres are written as .npy, not as {path.name}", fix=f"-o {path.with_suffix('.npy')}")
    twin = twin_of(path, KEYS)
    description = {"metric": centres.metric, "k": len(centres.vectors)}
    with atomic(path) as temporary:
        with temporary.open("wb") as file:
            np.save(file, centres.vectors, allow_pickle=False)
        write_json(twin, description | {"npy_sha256": sha256_of(temporary), "about": centres.about})
    return path


def read_centres(path: str | Path) -> Centres:
    """The centres that `write_centres` wrote; refuses an .npy without its .json, which has the metric."""
    path = Path(path)
    twin = path.with_suffix(".json")
    if not path.is_file() or not holds(twin, KEYS):
        raise InputError(
            f"{path} holds no centres", expected="what 'unseen data corpus centres' writes: .npy and .json"
        )
    description = read_json(twin)
    if sha256_of(path) != description["npy_sha256"]:
        raise InputError(f"{path} was changed after it was written", fix="make the centres again")
    return Centres(np.load(path, allow_pickle=False), description["metric"], description["about"])
