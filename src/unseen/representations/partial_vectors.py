"""Vectors of which some are done already: encoding that goes on where it was interrupted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.progress import track
from unseen.store import read_json, write_json
from unseen.store.files import holds

ROWS = 4_096
"""Texts between two notes of how far it has come; sorted by length among themselves."""


def encode_resumably(encoder: Any, texts: Sequence[str], partial: str | Path | None, key: str) -> npt.NDArray[Any]:
    """The vectors of `texts`; with `partial`, what is done lies in that file and is not done again.

    Only for encoders that say they are `rowwise`: each text on its own. `key` names the work, so that a
    file left by other work is not taken for this one's. Whoever keeps the result lets go of the file by `forget`.
    """
    if partial is None or not getattr(encoder, "rowwise", False) or not len(texts):
        return np.asarray(encoder.encode(texts))
    file, note = Path(partial), _note(partial)
    key = hashlib.sha256(key.encode()).hexdigest()
    known = read_json(note) if file.is_file() and holds(note, {"key", "done"}) else {}
    done = int(known["done"]) if known.get("key") == key else 0
    vectors = np.load(file, mmap_mode="r+", allow_pickle=False) if done else None
    begins = range(done, len(texts), ROWS)
    for begin in track(begins, "encoding", len(begins)):
        block = np.asarray(encoder.encode(texts[begin : begin + ROWS]), np.float32)
        if vectors is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            shape = (len(texts), block.shape[1])
            vectors = np.lib.format.open_memmap(file, "w+", np.float32, shape)
        vectors[begin : begin + len(block)] = block
        vectors.flush()  # type: ignore[attr-defined]
        write_json(note, {"key": key, "done": begin + len(block)})
    assert vectors is not None
    return vectors


def forget(partial: str | Path) -> None:
    """Remove what `encode_resumably` left."""
    for file in (Path(partial), _note(partial)):
        file.unlink(missing_ok=True)


def _note(partial: str | Path) -> Path:
    return Path(partial).with_suffix(".progress.json")
