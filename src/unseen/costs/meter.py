"""What some work costs: seconds, processor seconds, memory, energy, of this process and of its children."""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unseen.costs.energy import (
    IDLE_SECONDS,
    AnyGauge,
    Energy,
    estimated_energy,
    gauges_here,
    idle_watts,
    measured_energy,
)
from unseen.store import read_json, write_json
from unseen.types.numbers import in_bytes, in_seconds

INTERVAL = 0.02
"""Seconds between two looks at memory and power."""
PROC = Path("/proc")
KEPT = "costs.json"
"""The file in which a training leaves what it cost."""


@dataclass
class Cost:
    """What the block cost; while it runs there are no numbers."""

    seconds: float | None = None
    """On the clock."""
    processor_seconds: float | None = None
    """Of all threads of this process and of its children, also those that have ended."""
    peak_memory: float | None = None
    """Bytes of this process and its children at their highest; pages that processes share count in each of them."""
    memory_before: float | None = None
    """The same when the block began: libraries and data that were there."""
    energy: Energy = field(default_factory=lambda: Energy(source="still being measured"))
    failed: bool = False
    """Whether the block ended with an error; the numbers go up to there."""

    def __str__(self) -> str:
        if self.seconds is None:
            return "still being measured"
        lines = [
            f"time              {in_seconds(self.seconds)}",
            f"processor time    {in_seconds(self.processor_seconds)}",
            f"memory            {in_bytes(self.peak_memory)} at most, {in_bytes(self.memory_before)} before",
            f"energy            {self.energy}",
        ]
        return "\n".join([*lines, *(["the block ended with an error"] if self.failed else [])])


@contextmanager
def measure_cost(
    *,
    interval: float = INTERVAL,
    idle_seconds: float = IDLE_SECONDS,
    gauges: Callable[[], Sequence[AnyGauge]] = gauges_here,
) -> Iterator[Cost]:
    """What the block costs; the numbers are there when it has ended, also by an error, which goes on.

    Blocks may stand within each other. Where energy can be read the machine is first watched for `idle_seconds`, so
    that what it draws anyway is told apart. Memory is looked at every `interval` seconds: of this process no peak is
    missed that is its highest so far, of children a shorter one may be. Processes that leave the family (daemons)
    are not counted.
    """
    cost = Cost()
    idle = idle_watts(gauges, idle_seconds)
    watch = _Watch(list(gauges()), interval)
    cost.memory_before = watch.memory
    watch.start()
    begun, busy = time.monotonic(), processor_seconds()
    try:
        yield cost
    except BaseException:
        cost.failed = True
        raise
    finally:
        cost.seconds = time.monotonic() - begun
        cost.processor_seconds = max(0.0, processor_seconds() - busy)
        cost.peak_memory = watch.stop()
        cost.energy = measured_energy(watch.gauges, idle, cost.seconds) or estimated_energy(
            cost.processor_seconds, has_card=_uses_card()
        )


class _Watch(threading.Thread):
    """A thread that looks at memory and power now and then."""

    def __init__(self, gauges: list[AnyGauge], interval: float) -> None:
        super().__init__(daemon=True, name="unseen-cost")
        self.gauges, self.interval = gauges, interval
        self.ended = threading.Event()
        self.highest_before = own_highest()
        self.memory = self.peak = 0.0
        self._look()

    def run(self) -> None:
        """Look until it is told to stop."""
        while not self.ended.wait(self.interval):
            self._look()

    def stop(self) -> float:
        """The peak, after a last look; the kernel's own mark of this process where it rose in the meantime."""
        self.ended.set()
        self.join()
        self._look()
        highest = own_highest()
        return max(self.peak, highest) if highest > self.highest_before else self.peak

    def _look(self) -> None:
        self.memory = memory_now()
        self.peak = max(self.peak, self.memory)
        at = time.monotonic()
        for gauge in self.gauges:
            gauge.take(at)


def processor_seconds() -> float:
    """Of this process since it began, and of its children, those that live and those that were waited for."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(_ticks(child) for child in descendants()) / _clock()
    return time.process_time() + ended.ru_utime + ended.ru_stime + living


def memory_now() -> float:
    """Bytes of memory of this process and its children; without /proc, the highest of this process so far."""
    if not PROC.is_dir():
        return own_highest()
    return float(_family_pages(os.getpid()) * os.sysconf("SC_PAGE_SIZE"))


def own_highest() -> float:
    """Bytes that this process has had at its highest."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)


def _children(process: int) -> list[int]:
    """None on systems without /proc."""
    children: list[int] = []
    for tasks in (PROC / str(process) / "task").glob("*/children"):
        with suppress(OSError):
            children += map(int, tasks.read_text().split())
    return children


def descendants(process: int | None = None) -> list[int]:
    """Children of a process, and theirs."""
    children = _children(process or os.getpid())
    return [*children, *(below for child in children for below in descendants(child))]


def _ticks(process: int) -> int:
    """Processor time of a process and of the children it has waited for; 0 once it is gone."""
    with suppress(OSError):
        fields = (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15]))
    return 0


def _clock() -> int:
    return os.sysconf("SC_CLK_TCK")


def _family_pages(process: int, of_parent: str = "") -> int:
    """Pages in memory of a process and its descendants.

    A child that is just being started has the very memory of its parent until its program begins: it counts once.
    """
    sizes = ""
    with suppress(OSError):
        sizes = (PROC / str(process) / "statm").read_text()
    own = int(sizes.split()[1]) if sizes and sizes != of_parent else 0
    return own + sum(_family_pages(child, sizes) for child in _children(process))


def _uses_card() -> bool:
    """Whether torch is loaded and has a graphics card."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and bool(torch.cuda.is_available())


# -- costs that are kept -----------------------------------------------------------------------------------------------


def write_costs(folder: Path, training: tuple[int, Cost], answering: tuple[int, Cost]) -> None:
    """Put beside the answers of a training what they cost: texts, seconds, processor seconds and memory of both."""
    content = {
        phase: {
            "texts": texts, "seconds": cost.seconds, "processor_seconds": cost.processor_seconds,
            "peak_memory": cost.peak_memory,
        }
        for phase, (texts, cost) in (("training", training), ("answering", answering))
    }  # fmt: skip
    write_json(folder / KEPT, content)


def summed_costs(folders: Iterable[Path]) -> dict[str, Any]:
    """What trainings cost: texts per second of whole trainings and of answers, and of one the rest.

    Empty where trainings of an older version kept nothing. Memory is that of the process at its highest, which may
    have done other steps before.
    """
    known = [read_json(folder / KEPT) for folder in folders if (folder / KEPT).is_file()]
    if not known:
        return {}
    summed: dict[str, Any] = {"trainings": len(known)}
    for phase in ("training", "answering"):
        spent = sum(one[phase]["seconds"] for one in known)
        summed[phase] = sum(one[phase]["texts"] for one in known) / spent if spent else None
    both = [half for one in known for half in one.values()]
    summed["processor_seconds"] = sum(half["processor_seconds"] for half in both) / len(known)
    return summed | {"peak_memory": max(half["peak_memory"] for half in both)}
