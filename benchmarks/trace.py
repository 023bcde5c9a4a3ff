"""How far a reader has to walk: the files that a command runs through, in the order of their first call.

    python -m benchmarks.trace            # prints both counts for the commands below
    python -m benchmarks.trace --files    # and the files themselves

Counted are functions of this package that are called, not what is imported; a change of package is counted where a
file is followed by one of another package. Work that goes to other processes is not seen, so all is done in this one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import unseen

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


def main(arguments: Sequence[str]) -> None:
    """Trace the commands, each from what was done before it, and print the counts."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, commands in COMMANDS.items():
            files = [walked(command) for command in commands][-1]
            print(f"{name}: {len(files)} files, {package_changes(files)} changes of package")
            if "--files" in arguments:
                print("\n".join(f"  {path}" for path in files))


if __name__ == "__main__":
    main(sys.argv[1:])
