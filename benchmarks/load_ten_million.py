"""What loading a large CSV takes: seconds and peak memory, measured in a fresh process.

    python benchmarks/load_ten_million.py [--rows N]

Writes a file of about 120 bytes per row to a temporary folder, loads it, prints and deletes it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORDS = ("river", "stone", "window", "garden", "silver", "morning", "paper", "orange", "winter", "quiet", "green")
ROWS_WRITTEN_AT_ONCE = 100_000
GB = 1e9


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


def load(path: str) -> None:
    """Load `path` and print rows, seconds and peak memory of this process."""
    from unseen.data import load_table

    start = time.perf_counter()
    data = load_table(path, attributes=["user"])
    seconds = time.perf_counter() - start
    print(len(data), seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--load", metavar="PATH", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.load:
        load(arguments.load)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_rows(path, arguments.rows)
        size = path.stat().st_size
        command = [sys.executable, __file__, "--load", str(path)]
        rows, seconds, peak = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    print(f"rows       {int(rows):,}")
    print(f"file       {size / GB:.2f} GB")
    print(f"peak RSS   {float(peak) / GB:.2f} GB")
    print(f"RSS / file {float(peak) / size:.2f}")
    print(f"seconds    {float(seconds):.1f}")


if __name__ == "__main__":
    main()
