"""Memory that loading a CSV of ten million rows needs."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.setting import in_fresh_process, seconds, table

WORDS = ("river", "stone", "window", "garden", "silver", "morning", "paper", "orange", "winter", "quiet", "green")
ROWS_WRITTEN_AT_ONCE = 100_000
GB = 1e9
SIZES = (1_000_000, 10_000_000)


def write_rows(path: Path, rows: int) -> None:
    """Distinct texts of about 100 characters, every tenth quoted; three labels, many users."""
    random = np.random.default_rng(0)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("text,label,user\n")
        for start in range(0, rows, ROWS_WRITTEN_AT_ONCE):
            size = min(ROWS_WRITTEN_AT_ONCE, rows - start)
            words = random.integers(len(WORDS), size=(size, 14)).tolist()
            users = random.integers(500_000, size=size).tolist()
            file.writelines(
                f"{_text(start + row, words[row])},class{row % 3},user{users[row]}\n" for row in range(size)
            )


def _text(number: int, words: list[int]) -> str:
    text = f"{number} " + " ".join(WORDS[word] for word in words)
    return f'"{text}, ""said"""' if number % 10 == 0 else text


def section() -> str:
    """Peak memory of a fresh process that loads a file, beside the size of the file."""
    measured = [measure(rows) for rows in SIZES]
    rows = [
        [
            f"{size:,}",
            f"{each['file']:.2f} GB",
            f"{each['peak']:.2f} GB",
            f"{each['seconds'] / measured[0]['seconds']:.1f}",
        ]
        for size, each in zip(SIZES, measured, strict=True)
    ]
    return (
        "## Loading\n\nA CSV of distinct texts of about 100 characters, three labels, half a million users as an attribute, ids made "
        "from content; each size in a fresh process.\n\n"
        + table(["rows", "file", "peak memory", "time, relative"], rows)
    )


def measure(rows: int) -> dict[str, float]:
    """Write a file of so many rows, load it in a process of its own, delete it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_rows(path, rows)
        return json.loads(in_fresh_process("-m", "benchmarks.loading", str(path))) | {"file": path.stat().st_size / GB}


def load(path: str) -> dict[str, float]:
    """Seconds and peak memory of loading `path` in this process."""
    import unseen

    took, _ = seconds(lambda: unseen.load(path, attributes=["user"]))
    return {"seconds": took, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / GB}


if __name__ == "__main__":
    print(json.dumps(load(sys.argv[1])) if len(sys.argv) > 1 else section())
