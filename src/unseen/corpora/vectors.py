"""Vectors of a corpus of any size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unseen.corpora.shards import Shards, finished, from_bytes, to_bytes, write_shard
from unseen.corpora.texts import Piece, Texts, files_of, piece_key, settled_ids
from unseen.corpora.workers import Workers
from unseen.errors import InputError, VectorsError
from unseen.naming import content_of_name, encoder_of
from unseen.progress import track
from unseen.types import finite_float32

BATCH = 8_192
"""Texts in a shard: a worker that is lost loses no more than these; sorted by length among themselves."""
VERSION = 1
"""Raised when the same texts and settings give other vectors than before."""


def encode_corpus(
    source: str | Path | Sequence[str | Path],
    encoder: str | Path,
    out: str | Path,
    *,
    text: str = "text",
    id: str | None = None,
    batch: int = BATCH,
    address: str | None = None,
    workers: int | None = None,
    gpus: float = 0,
    **params: Any,
) -> Shards:
    """A folder `out` of Parquet shards with an id and a float32 vector per text; goes on where it was interrupted.

    `source` is a Parquet, CSV or JSONL file, a folder of Parquet files, a pattern, or several of these. Without `id` a
    column of that name is used where it tells the rows apart, else ids are made from the texts. `encoder` is what
    `unseen.encode` takes by name, with its `params`, as long as it encodes each text on its own. Each of `workers`
    actors has a model and one thread, or `gpus`; `address` names a Ray cluster ("auto" finds it).

    Vectors equal those of `unseen.encode` up to floating point, because texts meet others in a batch: in fp32 to about
    1e-5, in bf16 less. `precision="auto"` is bf16 only on nodes that multiply it; on mixed nodes ask for fp32.
    """
    if batch < 1:
        raise InputError("batch must be at least 1", got=str(batch))
    actors = Workers(address, workers, gpus)
    work_key, encoding = _encoding(encoder, params)
    texts = Texts(tuple(str(file.resolve()) for file in files_of(source)), text, id, batch)
    texts, pieces = settled_ids(texts, work_key)
    folder = Path(out)
    done = finished(folder, {piece.key for piece in pieces})
    missing = [piece for piece in pieces if piece.key not in done]
    if missing:
        results = actors.results(_places(missing), partial(read_texts, texts, work_key), encoding)
        for key, content in track(results, f"encoding with {encoding.name}", len(missing)):
            write_shard(folder, key, content)
    about = {"encoder": encoding.name, "params": params, "work": work_key, "text": text, "id": texts.id, "batch": batch}
    return Shards(folder, "vectors", {piece.key: piece.rows for piece in pieces}, about).write_manifest()


@dataclass
class Encoding:
    """What an actor does; the model is loaded with its first piece."""

    using: str
    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def encoder(self) -> Any:
        """The encoder."""
        return encoder_of(self.using, 42, dict(self.params))[0]  # nothing is drawn where texts are on their own

    def __call__(self, content: bytes) -> bytes:
        """Ids and texts to ids and vectors."""
        table = from_bytes(content)
        vectors = finite_float32(np.asarray(self.encoder.encode(table["text"].to_pylist())))
        if vectors.ndim != 2 or len(vectors) != len(table):
            raise VectorsError(f"{self.name} gave vectors of another shape", got=str(vectors.shape))
        column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
        return to_bytes(pa.table({"id": table["id"], "vector": column}))


def read_texts(texts: Texts, work: str, place: str) -> Iterator[tuple[str, bytes]]:
    """The pieces of one file that `place` names; refuses a file that has changed since it was surveyed."""
    file, keys = json.loads(place)
    missing = set(keys)
    for table in texts.pieces(file):
        key = piece_key(table, work)
        if key in missing:
            missing.remove(key)
            yield key, to_bytes(table)
    if missing:
        raise InputError(f"{file} was changed while it was read", fix="start again; what is finished stays")


def _places(missing: Sequence[Piece]) -> list[str]:
    """Per file, the pieces that are missing of it."""
    by_file = groupby(sorted(missing, key=attrgetter("file")), attrgetter("file"))
    return [json.dumps([file, [piece.key for piece in pieces]]) for file, pieces in by_file]


def _encoding(encoder: str | Path, params: Mapping[str, Any]) -> tuple[str, Encoding]:
    """A key of everything that decides the vectors, and the work; refuses what must see all texts at once."""
    if not isinstance(encoder, str | Path):
        raise InputError("each worker makes its own encoder", expected="the name of one", got=type(encoder).__name__)
    using = str(Path(encoder).resolve()) if Path(encoder).is_dir() else str(encoder)
    example, name = encoder_of(using, 42, dict(params))
    if not getattr(example, "rowwise", False):
        raise InputError(
            f"{name} needs all texts at once, so it cannot encode a corpus piece by piece",
            expected="an encoder that says it is `rowwise`, such as minilm or any transformer",
            fix="--encoder minilm, or 'unseen model encode' for texts that fit into memory",
        )
    # the same name may stand for other weights tomorrow
    settings = json.dumps([VERSION, name, dict(params), content_of_name(using)], sort_keys=True, default=str)
    return hashlib.sha256(settings.encode()).hexdigest(), Encoding(using, name, dict(params))
