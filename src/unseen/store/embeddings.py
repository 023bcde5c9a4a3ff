"""Vectors as NPY files, with a JSON file beside them that says whose they are."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import MismatchError, VectorsError
from unseen.store.files import atomic, holds, origin_from, read_json, sha256_of, twin_of, write_json
from unseen.types import Dataset, Embeddings

KEYS = {"dataset", "order", "npy_sha256", "origin"}


def write_embeddings(embeddings: Embeddings, path: str | Path, data: Dataset) -> Path:
    """Write the vectors to `path` (.npy) and whose they are beside them (.json: fingerprint of `data`, checksum)."""
    path = Path(path)
    if path.suffix != ".npy":
        raise VectorsError(f"vectors are written as .npy, not as {path.name}", fix=f"-o {path.with_suffix('.npy')}")
    twin = twin_of(path, KEYS)
    about = {"dataset": data.fingerprint, "order": data.order, "shape": embeddings.vectors.shape}
    with atomic(path) as temporary:
        with temporary.open("wb") as file:
            np.save(file, embeddings.vectors, allow_pickle=False)
        write_json(twin, about | {"npy_sha256": sha256_of(temporary), "origin": asdict(embeddings.origin)})
    return path


def read_array(path: Path) -> npt.NDArray[Any]:
    """The array in an NPY file, memory-mapped."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as cause:
        raise VectorsError(f"cannot read vectors from {path}: {cause.strerror or cause}") from cause
    except Exception as cause:  # whatever numpy's reader of headers makes of damage
        raise VectorsError(f"{path} is not an NPY file of numbers", expected="what numpy.save writes") from cause
    if not isinstance(array, np.ndarray):
        raise VectorsError(f"{path} holds several arrays", expected="one array in an .npy file")
    return array


def read_embeddings(path: str | Path, data: Dataset) -> Embeddings:
    """The vectors in `path` for the rows of `data`, memory-mapped.

    Vectors of our own are refused when they belong to other data. A foreign .npy has nothing to
    check but its length: its rows must be in the order of `data`.
    """
    path = Path(path)
    vectors = read_array(path)
    origin = origin_from({"step": "given", "params": {"file": path.name}})
    twin = path.with_suffix(".json")
    if holds(twin, KEYS):
        about = read_json(twin)
        if about.get("dataset") != data.fingerprint or about.get("order") != data.order:
            raise MismatchError(
                f"the vectors in {path} belong to another dataset, or to its rows in another order",
                expected=f"dataset {data.fingerprint}",
                got=f"dataset {about.get('dataset')}",
                fix="encode this file again, with the same columns and labels",
            )
        if about["npy_sha256"] != sha256_of(path):
            raise MismatchError(
                f"{path} was changed after it was written",
                fix=f"encode again; vectors of your own need no {twin.name} beside them",
            )
        origin = origin_from(about["origin"])
    return Embeddings(data.ids, vectors, origin)
