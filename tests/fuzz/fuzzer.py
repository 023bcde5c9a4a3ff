"""Spoil sound files and see that every door answers with its own error, in time and in little memory.

    python tests/fuzz/fuzzer.py --inputs 20000 --seed 1

A find is an exception that is not one of unseen's, an answer that takes too long, or one that takes too much memory.
Whatever is found can be made again from its seed.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "reports"), str(HERE.parent)]

from doors import Door, doors  # noqa: E402
from mutations import spoiled  # noqa: E402

from unseen.errors import UnseenError  # noqa: E402

SECONDS = 20
MEMORY = 1_000
"""Megabytes by which one answer may raise the largest memory of the process: examples are a few kilobytes."""


@dataclass(frozen=True)
class Find:
    """An input that got through."""

    door: str
    seed: int
    file: str
    error: str
    place: str


def fuzz(inputs: int, seed: int, folder: Path, only: Sequence[str] = ()) -> list[Find]:
    """What got through of so many spoiled files, one door after the other."""
    known = [door for door in doors(folder) if not only or door.name in only]
    for door in known:
        door.read(door.place)  # a sound example is read
    finds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(inputs):
            door = known[number % len(known)]
            find = one(door, seed * 1_000_003 + number, folder / "spoiled")
            finds += [] if find is None else [find]
    return finds


def one(door: Door, seed: int, scratch: Path) -> Find | None:
    """Spoil one file of a door's example and read it."""
    draw = random.Random(seed)
    shutil.rmtree(scratch, ignore_errors=True)
    place = scratch / door.place.name
    if door.place.is_dir():
        shutil.copytree(door.place, place)
    else:
        scratch.mkdir(parents=True)
        shutil.copy(door.place, place)
    spoilt = draw.choice(door.files())
    target = place / spoilt.relative_to(door.place) if door.place.is_dir() else place
    if door.place.is_dir() and draw.random() < 0.1:
        target.unlink()
    else:
        target.write_bytes(spoiled(spoilt.read_bytes(), spoilt.name, draw))
    signal.signal(signal.SIGALRM, _too_long)
    before = _peak()
    signal.alarm(SECONDS)
    try:
        with suppress(UnseenError):
            door.read(place)
        if (grown := _peak() - before) > MEMORY:
            return Find(door.name, seed, target.name, f"MemoryError: {grown:.0f} MB for one answer", "memory")
    except Exception as error:
        ours = [each for each in traceback.extract_tb(error.__traceback__) if "unseen" in each.filename]
        at = ours[-1] if ours else traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {str(error)[:150]}"
        return Find(door.name, seed, target.name, said, f"{Path(at.filename).name}:{at.lineno} {at.name}")
    finally:
        signal.alarm(0)
    return None


def _peak() -> float:
    """The largest memory of the process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)


def _too_long(*_: Any) -> None:
    raise TimeoutError(f"no answer in {SECONDS} seconds")


def told(finds: Sequence[Find]) -> str:
    """The finds by the place where they were raised."""
    counts = Counter((find.place, find.error.partition(":")[0]) for find in finds)
    lines = []
    for (place, kind), count in counts.most_common():
        first = next(find for find in finds if find.place == place and find.error.startswith(kind))
        lines.append(f"{count:5} {place}: {first.error} [{first.door}, {first.file}, seed {first.seed}]")
    return "\n".join(lines)


def main() -> None:
    """Fuzz from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], help="a door")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        finds = fuzz(given.inputs, given.seed, Path(folder), given.only)
    print(told(finds) or f"{given.inputs} inputs, nothing got through")
    sys.exit(1 if finds else 0)


if __name__ == "__main__":
    main()
