"""How long `unseen --help` takes beside a typer program with one command: processor time, in turn.

python -m benchmarks.start
"""

from __future__ import annotations

import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

from benchmarks.setting import machine, table

ROUNDS = 20
BARE = """
import typer
app = typer.Typer()
@app.command()
def greet(name: str, times: int = 1) -> None:
    "Greet somebody."
app()
"""
WAYS = {
    "a bare typer program, `--help`": ["-c", BARE, "--help"],
    "`unseen --help`": ["-m", "unseen", "--help"],
    "`import unseen`": ["-c", "import unseen"],
    "Python alone": ["-c", ""],
}


def cost(arguments: list[str]) -> float:
    """Processor seconds of a fresh Python with these arguments."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    rounds = np.array([[cost(arguments) for arguments in WAYS.values()] for _ in range(ROUNDS)])
    rows = [
        [name, f"{np.median(taken / rounds[:, 0]):.2f}", f"{np.median(taken - rounds[:, 0]):+.3f} s"]
        for name, taken in zip(WAYS, rounds.T, strict=True)
    ]
    print(f"{machine()}; medians of {ROUNDS} rounds in turn.\n")
    print(table(["", "time ÷ the bare program's", "difference"], rows))
