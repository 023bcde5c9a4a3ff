"""Corpora on Ray Data: what a text and a row cost on one and on two workers; `python -m benchmarks.corpora`."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, hatexplain, in_fresh_process, machine, seconds, table

WORKERS = (1, 2)
SIZES = {"encode": (500, 2_000, 4_000), "assign": (50_000, 200_000, 400_000)}
BATCH = {"encode": 250, "assign": 8_192}
NUMBERS, CENTRES = 384, 50
DONE = {"encode": "texts encoded by minilm", "assign": f"rows of {NUMBERS} numbers assigned to {CENTRES} centres"}


def measure(job: str, size: int, workers: int) -> dict[str, Any]:
    """Seconds from the call to the finished folder, the start of Ray and the loading of models included."""
    with tempfile.TemporaryDirectory() as folder:
        prepare, work = {"encode": (write_texts, encode), "assign": (write_vectors, assign)}[job]
        prepare(Path(folder), size)
        took, rows = seconds(lambda: work(Path(folder), workers))
    assert rows == size
    return {"job": job, "rows": size, "workers": workers, "seconds": took}


def write_texts(folder: Path, size: int) -> None:
    """Real texts where they are, else synthetic ones."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = hatexplain()[0]
    rows = {"id": [str(i) for i in range(size)], "text": [texts[i % len(texts)] for i in range(size)]}
    pq.write_table(pa.table(rows), folder / "texts.parquet")


def encode(folder: Path, workers: int) -> int:
    from unseen.corpora import encode_corpus

    source, out = folder / "texts.parquet", folder / "vectors"
    return encode_corpus(source, "minilm", out, id="id", batch=BATCH["encode"], workers=workers).rows


def write_vectors(folder: Path, size: int) -> None:
    """Shards of normal numbers."""
    import pyarrow as pa

    from unseen.corpora import Shards
    from unseen.corpora.shards import to_bytes, write_shard

    draw, shards = np.random.default_rng(0), {}
    for start in range(0, size, BATCH["assign"]):
        rows = min(BATCH["assign"], size - start)
        numbers = pa.array(draw.normal(size=rows * NUMBERS).astype(np.float32))
        ids = [str(start + row) for row in range(rows)]
        content = pa.table({"id": ids, "vector": pa.FixedSizeListArray.from_arrays(numbers, NUMBERS)})
        write_shard(folder / "vectors", f"{start:032}", to_bytes(content))
        shards[f"{start:032}"] = rows
    Shards(folder / "vectors", "vectors", shards).write_manifest()


def assign(folder: Path, workers: int) -> int:
    from unseen import corpora

    centres = corpora.Centres(np.random.default_rng(1).normal(size=(CENTRES, NUMBERS)).astype(np.float32))
    return corpora.assign(folder / "vectors", centres, folder / "clusters", workers=workers).rows


def fitted(measured: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Start-up s and rate r of seconds = s + rows / (r × workers) by least squares, and the largest relative error."""
    per_worker = np.array([each["rows"] / each["workers"] for each in measured])
    took = np.array([each["seconds"] for each in measured])
    (start, cost), *_ = np.linalg.lstsq(np.stack([np.ones_like(per_worker), per_worker], axis=1), took, rcond=None)
    errors = np.abs(start + cost * per_worker - took) / took
    return float(start), float(1 / cost), float(errors.max())


def section(job: str, sizes: tuple[int, ...]) -> str:
    """One fresh process per size and number of workers, and the model that fits them."""
    measured = [
        json.loads(in_fresh_process("-m", "benchmarks.corpora", job, str(size), str(workers)).splitlines()[-1])
        for size in sizes
        for workers in WORKERS
    ]
    start, rate, error = fitted(measured)
    first = measured[0]["seconds"]
    rows = [[f"{each['rows']:,}", each["workers"], f"{each['seconds'] / first:.2f}"] for each in measured]
    sentence = (
        f"seconds = s + n / (r × w) fits with s = {start:.1f} s and r = {rate:,.0f} per second and worker; "
        f"the worst of the {len(measured)} runs is {error:.0%} off it."
        if rate > 0
        else "Sizes are too small for a rate: larger ones did not take longer."
    )
    return (
        f"## {DONE[job].capitalize()}\n\n{sentence}\n\n" + table(["rows n", "workers w", "time, relative"], rows) + "\n"
    )


def page(sizes: dict[str, tuple[int, ...]]) -> str:
    """The whole page."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("ray", "torch", "transformers"))
    return (
        f"# Corpora on Ray: what was measured\n\n{machine()}, {packages}. Load of the machine before the first run: "
        f"{os.getloadavg()[0]:.1f} processes; it is shared, so seconds hold for that day only and two workers may find "
        "fewer than two free cores. Times include the start of Ray, the imports of each worker and the model; each run "
        "in a fresh process, one thread per worker.\n\n" + "".join(section(job, sizes[job]) for job in sizes)
    )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
    else:
        written = page(SIZES)
        (ROOT / "docs" / "results" / "scale.md").write_text(written, encoding="utf-8")
        print(written)
