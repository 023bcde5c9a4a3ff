"""`closest` end to end from ten thousand to a million rows: how time and memory grow."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import in_fresh_process, seconds, table

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def section() -> str:
    """One fresh process per size: memory-mapped vectors and a Parquet table in, a split file out."""
    measured = [json.loads(in_fresh_process("-m", "benchmarks.scale", str(size))) for size in SIZES]
    first = measured[0]
    rows = [
        [f"{each['rows']:,}", f"{each['seconds'] / first['seconds']:.1f}", f"{each['rows'] / first['rows']:.0f}",
         f"{each['gigabytes']:.2f} GB", f"{each['input']:.2f} GB", each["clusters"]]
        for each in measured
    ]  # fmt: skip
    last = measured[-1]
    return (
        "## Scale\n\n"
        '`unseen.split(data, "closest")`, 50 numbers per row (a mixture of 60 Gaussians with uneven weights, 3 classes, '
        "seed 0), loading, k = 3 to 50, certificate and split file included, each size in a fresh process. Above 200,000 "
        "rows the centres come from a sample of 100,000; every row is assigned exactly. A million rows took "
        f"{last['seconds'] / 60:.1f} minutes and {last['gigabytes']:.1f} GB.\n\n"
        + table(
            ["rows", "time, relative", "rows, relative", "peak memory", "vectors and table on disk", "clusters chosen"],
            rows,
        )
    )


def measure(size: int) -> dict[str, Any]:
    """Make the data, then time the job."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        draw = np.random.default_rng(0)
        weights = draw.dirichlet(np.full(60, 2.0))
        which = draw.choice(60, size, p=weights)
        vectors = (draw.normal(size=(60, 50)) * 2)[which].astype(np.float32)
        vectors += draw.normal(size=vectors.shape).astype(np.float32)
        labels = (which + (draw.random(size) < 0.5) * draw.integers(3, size=size)) % 3
        np.save(Path(folder, "v.npy"), vectors)
        texts = [f"text {i} about {which[i]}" for i in range(size)]
        pq.write_table(
            pa.table({"id": [str(i) for i in range(size)], "text": texts, "label": labels.astype(str)}),
            Path(folder, "d.parquet"),
        )
        on_disk = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e9
        del vectors, texts, which, labels
        return json.loads(in_fresh_process("-m", "benchmarks.scale", folder)) | {"rows": size, "input": on_disk}


def job(folder: str) -> dict[str, Any]:
    """Load, split and write; what it took in this process."""
    import unseen

    def run() -> Any:
        data = unseen.load(Path(folder, "d.parquet"), id="id")
        split = unseen.split(data, "closest", using=Path(folder, "v.npy"))
        unseen.write_split(split, Path(folder, "hard.csv"))
        return split

    took, split = seconds(run)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return {"seconds": took, "gigabytes": peak, "clusters": split.certificate.n_clusters}


if __name__ == "__main__":
    argument = sys.argv[1]
    print(json.dumps(measure(int(argument)) if argument.isdecimal() else job(argument)))
