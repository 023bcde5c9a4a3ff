"""The whole job on the bundled sample."""

from __future__ import annotations

import platform
import shlex
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from unseen import __version__, api
from unseen.errors import InputError
from unseen.reports import write_splits_page
from unseen.splits.partition import versions
from unseen.store import write_embeddings, write_json, write_measurements, write_split
from unseen.types import Dataset, Measurement, Split

METHODS = ("random", "subset-sum", "closest")


def demo(out: str | Path, seed: int = 42) -> tuple[Dataset, list[Split], list[Measurement]]:
    """Sample corpus, vectors, three splits, their distances, a report; everything in the folder `out`."""
    out, begun = _folder(Path(out)), monotonic()
    data = api.load("sample")
    vectors = api.encode(data, seed=seed)
    splits = [api.split(data, method, **_using(method, vectors), seed=seed) for method in METHODS]
    measured = [row for split in splits for row in api.analyse(data, split, vectors)]
    write_embeddings(vectors, out / "vectors" / "tfidf.npy", data)
    for split in splits:
        write_split(split, out / "splits" / f"{split.name}.csv")
    write_measurements(measured, out / "measurements.csv")
    command = f"unseen demo --out {shlex.quote(out.name)} --seed {seed}"
    about = {
        "command": command,
        "version": __version__,
        "dimensions": vectors.vectors.shape[1],
        "source": "a synthetic corpus, written by a seeded generator",
    }
    write_splits_page(out / "report.html", data, vectors, splits, measured, about)
    write_json(
        out / "run.json",
        {
            "command": command,
            "settings": {"methods": METHODS, "encoder": vectors.origin.step, "seed": seed},
            "versions": versions() | {"python": platform.python_version()},
            "fingerprints": {"dataset": data.fingerprint},
            "seconds": round(monotonic() - begun, 2),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "host": {"system": platform.system(), "machine": platform.machine()},
        },
    )
    return data, splits, measured


def _folder(out: Path) -> Path:
    """`out` as a folder that is there, before any work is done for it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise InputError(f"cannot write to {out}: {cause.strerror}", fix="name a folder you may write to") from cause
    return out.resolve()


def _using(method: str, vectors: api.Vectors) -> dict[str, api.Vectors]:
    return {} if method == "random" else {"using": vectors}
