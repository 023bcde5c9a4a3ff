"""How far a reader has to walk: the files that a command runs through, in the order of their first call, and all lines.

    python -m benchmarks.trace            # writes docs/results/inside.md
    python -m benchmarks.trace --files    # prints the files of each command instead

Counted are functions of this package that are called, not what is imported; a change of package is counted where a
file is followed by one of another package. Work that goes to other processes is not seen, so all is done in this one.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import unseen
from benchmarks.setting import ROOT, machine, table, write_measured

HOME = Path(unseen.__file__).parent
RUN = ["--model", "logistic", "--trainings", "1", "--quiet", "--workers", "1"]
COMMANDS = {
    "stress": [
        ["stress", "sample", "--model", "logistic", "--limit", "600", "--seeds", "42", "--seen-folds", "1",
         "--workers", "1", "--quiet", "-o", "stress"],
    ],
    "price": [
        ["split", "make", "sample", "--with", "random", "--test", "0.2", "--quiet", "-o", "split.csv"],
        ["audit", "price", "sample", "--split", "split.csv", "--leaks", "near", *RUN, "--repeats", "2", "-o", "price"],
    ],
}  # fmt: skip
"""By name, the command that is traced and what has to be done before it."""
COMMITS = {"2026-11-16": "c7ef56b", "2026-11-17": "6b77e75", "now": None}
"""Whose lines are counted: before the inside was rebuilt, after that, and the working tree."""
REBUILT, GOLDEN = "22dfb60", "tests/golden/expected"
"""The commit that stored the golden runs first, and where they are."""
NUMBERS = ("value", "low", "high")
PAGE = ROOT / "docs" / "results" / "inside.md"


def walked(arguments: Sequence[str]) -> list[Path]:
    """The files of this package in the order in which a function of each is first called."""
    from unseen.cli import main

    files: dict[str, None] = {}
    importing = 0

    def look(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal importing
        if frame.f_code.co_name == "<module>":
            importing += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not importing:
            files.setdefault(frame.f_code.co_filename)

    before = sys.argv
    sys.argv = ["unseen", *arguments]
    threading.setprofile(look)
    sys.setprofile(look)
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        sys.argv = before
    paths = (Path(name) for name in files)
    return [path.relative_to(HOME) for path in paths if path.is_relative_to(HOME) and path.suffix == ".py"]


def package_changes(files: Sequence[Path]) -> int:
    """How often a file is followed by one of another package."""
    packages = [path.parts[0] if len(path.parts) > 1 else "" for path in files]
    return sum(one != other for one, other in pairwise(packages))


@contextmanager
def tree_of(commit: str | None, path: str) -> Iterator[Path]:
    """A folder of the tree, as a commit has it or as it is now."""
    if commit is None:
        yield ROOT / path
        return
    with tempfile.TemporaryDirectory() as folder:
        archived = subprocess.run(["git", "-C", ROOT, "archive", commit, path], capture_output=True, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archived.stdout, check=True)
        yield Path(folder, path)


def lines_table() -> str:
    """A line for each package: lines of the source at each of `COMMITS`, and now."""
    counts: dict[str, Counter[str]] = {}
    for name, commit in COMMITS.items():
        counts[name] = Counter()
        with tree_of(commit, "src/unseen") as root:
            for path in root.rglob("*.py"):
                package = path.relative_to(root).parts[0] if path.parent != root else "single modules"
                counts[name][package] += len(path.read_text(encoding="utf-8").splitlines())
    packages = sorted({package for count in counts.values() for package in count})
    rows = [
        [package, *(f"{count[package]:,}" if count[package] else "–" for count in counts.values())]
        for package in packages
    ]
    return table(["package", *counts], [*rows, ["all", *(f"{count.total():,}" for count in counts.values())]])


def golden_table() -> str:
    """A line for each kind of run that was stored when the inside was rebuilt: how many of its numbers are gone."""
    rows = []
    with tree_of(REBUILT, GOLDEN) as before:
        for path in sorted(before.glob("*/run/measurements.csv")):
            then, now = (numbers_of(file) for file in (path, ROOT / GOLDEN / path.relative_to(before)))
            rows.append([path.parts[-3], then.total(), (then - now).total()])
    return table(["golden run", "numbers stored", "of these not there now"], rows)


def numbers_of(path: Path) -> Counter[tuple[str, ...]]:
    """The measurements in a file by metric, slice, count, value and interval to five digits; tags have other names now."""
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(
            (row["metric"], row["slice"], row["n"], *(row[name] and f"{float(row[name]):.5g}" for name in NUMBERS))
            for row in csv.DictReader(file)
        )


def main(arguments: Sequence[str]) -> None:
    """Trace the commands, each from what was done before it, and write down the counts."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, commands in COMMANDS.items():
            files = [walked(command) for command in commands][-1]
            rows.append([f"`{name}`", len(files), package_changes(files)])
            if "--files" in arguments:
                print(name, *(f"  {path}" for path in files), sep="\n")
        os.chdir(ROOT)
    if "--files" not in arguments:
        traced = table(["command", "files", "changes of package"], rows)
        write_measured(
            PAGE, "How much there is to read", f"{machine()}.\n\n{traced}\n{lines_table()}\n{golden_table()}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
