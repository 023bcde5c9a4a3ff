"""A folder of Parquet shards, each named by its content, and the manifest that says they are all there."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.store.files import atomic, holds, read_json, write_json

MANIFEST = "_corpus.json"
"""Those who read a folder of Parquet files pass over names that begin with an underscore."""
KEYS = {"kind", "rows", "shards", "about"}


@dataclass(frozen=True)
class Shards:
    """A finished folder: rows of `kind` vectors (id, vector) or clusters (id, cluster, distance)."""

    path: Path
    kind: str
    shards: Mapping[str, int]
    """Rows by the name of the shard, which is its file name without .parquet."""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows in all shards."""
        return sum(self.shards.values())

    def file(self, shard: str) -> Path:
        """Where a shard lies."""
        return self.path / f"{shard}.parquet"

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[tuple[str, pa.Table]]:
        """Each shard's name and content, one after the other; in no order that means anything."""
        for shard in self.shards:
            yield shard, pq.read_table(self.file(shard), columns=columns, partitioning=None)

    def write_manifest(self) -> Shards:
        """Say that the folder is finished; its last file."""
        about = {"kind": self.kind, "rows": self.rows, "shards": dict(self.shards), "about": dict(self.about)}
        write_json(self.path / MANIFEST, about)
        return self


def open_shards(path: str | Path, kind: str) -> Shards:
    """The finished folder at `path`; refuses one that is unfinished, damaged or of another kind."""
    path = Path(path)
    if not holds(path / MANIFEST, KEYS):
        begun = path.is_dir() and any(path.glob("*.parquet"))
        raise InputError(
            f"{path} is not a finished folder of {kind}",
            expected=f"a folder that 'unseen data corpus' has written, with {MANIFEST} in it",
            fix="start the command that writes it again: it goes on where it stopped" if begun else "check the path",
        )
    manifest = read_json(path / MANIFEST)
    if manifest["kind"] != kind:
        raise InputError(f"{path} holds {manifest['kind']}", expected=kind)
    shards = Shards(path, kind, manifest["shards"], manifest["about"])
    gone = [shard for shard in shards.shards if not shards.file(shard).is_file()]
    if gone:
        raise InputError(
            f"{len(gone)} shards of {path} are gone", got=shards.file(gone[0]).name, fix="make the folder again"
        )
    return shards


def finished(folder: Path, keys: Collection[str]) -> set[str]:
    """Which of the shards `keys` are there already; refuses a folder that holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write to {folder}: it is a file", fix="name a folder")
    there = {path.name for path in folder.glob("*") if not path.name.startswith(".")} if folder.is_dir() else set()
    others = sorted(there - {f"{key}.parquet" for key in keys} - {MANIFEST})
    if others:
        raise InputError(
            f"{folder} holds {len(others)} files that are not part of this work",
            got=others[0],
            fix="name another folder; other texts, another encoder or another batch make other shards",
        )
    return {key for key in keys if f"{key}.parquet" in there}


def write_shard(folder: Path, key: str, content: bytes) -> None:
    """Write one shard: whole, or not at all."""
    with atomic(folder / f"{key}.parquet") as temporary:
        temporary.write_bytes(content)


def to_bytes(table: pa.Table) -> bytes:
    """`table` as the content of a Parquet file. Vectors are noise to a compressor, so nothing is compressed."""
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="none", use_dictionary=False, write_statistics=False)
    return stream.getvalue()


def from_bytes(content: bytes) -> pa.Table:
    """The table that `to_bytes` was given."""
    return pq.read_table(pa.BufferReader(content))
