"""How fast a model is: after a warm-up, several times, median and quartiles; and the largest batch that memory allows.

Work that must not see what earlier work left in memory is done in a fresh process.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from unseen.engines.local import import_from
from unseen.errors import InputError, UnseenError
from unseen.machine import THREAD_VARIABLES

REPEATS = 3
"""The fewest times that something is timed."""
PERCENTILES = (50, 95, 99)
CLOSE = 0.1
"""Share of a batch from which on a larger one is not looked for any more."""
Made = TypeVar("Made")
Ask = Callable[[list[str]], Any]


@dataclass(frozen=True)
class Repeated:
    """What was measured several times."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.median(self.values))

    @property
    def quartiles(self) -> tuple[float, float]:
        """Between which the middle half lies."""
        low, high = np.percentile(self.values, [25, 75])
        return float(low), float(high)


def check_repeats(repeats: int) -> None:
    """Refuse fewer repeats than show a spread."""
    if repeats < REPEATS:
        raise InputError(f"repeats must be at least {REPEATS}: a single time has no spread", got=str(repeats))


def timed(work: Callable[[], object], repeats: int = REPEATS, *, warm: bool = False) -> Repeated:
    """Seconds of each repeat; before them it is done once unless it is `warm`, because the first time is slow."""
    check_repeats(repeats)
    if not warm:
        work()
    spent = []
    for _ in range(repeats):
        begun = perf_counter()
        work()
        spent.append(perf_counter() - begun)
    return Repeated(tuple(spent))


def ask_in_batches(ask: Ask, texts: Sequence[str], batch: int) -> None:
    """Ask about all texts, so many at once."""
    for start in range(0, len(texts), batch):
        ask(list(texts[start : start + batch]))


def texts_per_second(ask: Ask, texts: Sequence[str], batch: int, repeats: int = REPEATS) -> Repeated:
    """How many texts a second are answered when `batch` of them are asked about at once."""
    spent = timed(lambda: ask_in_batches(ask, texts, batch), repeats)
    return Repeated(tuple(len(texts) / seconds for seconds in spent.values))


def latencies(ask: Ask, texts: Sequence[str], repeats: int = REPEATS) -> dict[int, Repeated]:
    """Percentiles of the seconds that an answer takes, asked about one text after the other; each of every repeat.

    With fewer than a hundred texts the 99th percentile is about the slowest of them.
    """
    check_repeats(repeats)
    for text in texts[:5]:
        ask([text])
    seconds = np.array([[_seconds_of(ask, text) for text in texts] for _ in range(repeats)])
    return {share: Repeated(tuple(np.percentile(seconds, share, axis=1).tolist())) for share in PERCENTILES}


def _seconds_of(ask: Ask, text: str) -> float:
    begun = perf_counter()
    ask([text])
    return perf_counter() - begun


@dataclass(frozen=True)
class LargestBatch:
    """The largest batch that was within the budget."""

    batch: int | None
    """None where not even one text at a time was."""
    tried: dict[int, float] = field(default_factory=dict)
    """Bytes at most with each batch that was tried."""
    limited: bool = True
    """Whether the budget set the limit, and not the number of texts."""


def largest_batch(peak_of: Callable[[int], float], budget: float, most: int, first: int = 8) -> LargestBatch:
    """The largest batch whose peak is within `budget` bytes: doubled until it is too large, then halved between.

    It stops within a tenth of the limit. A larger batch is taken to need more memory.
    """
    tried: dict[int, float] = {}

    def fits(batch: int) -> bool:
        if batch not in tried:
            tried[batch] = peak_of(batch)
        return tried[batch] <= budget

    low, batch = 0, min(first, most)
    while fits(batch):
        low = batch
        if batch == most:
            return LargestBatch(batch, tried, limited=False)
        batch = min(2 * batch, most)
    high = batch
    while high - low > max(1, CLOSE * low):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return LargestBatch(low or None, tried)


def in_fresh_process(work: Callable[..., Made], *arguments: Any) -> Made:
    """What `work` returns, done in a process that nothing was done in before; it has the threads of this one."""
    from loky import ProcessPoolExecutor
    from loky.process_executor import TerminatedWorkerError

    warnings.filterwarnings("ignore", "A worker was restarted", UserWarning)
    threads = {name: os.environ[name] for name in THREAD_VARIABLES if name in os.environ}
    executor = ProcessPoolExecutor(1, env=threads, initializer=import_from, initargs=(sys.path,))
    try:
        return executor.submit(work, *arguments).result()
    except TerminatedWorkerError as cause:
        raise UnseenError(
            "the process in which a model was measured died", fix="memory may have been short: a smaller batch or model"
        ) from cause
    finally:
        executor.shutdown(wait=True, kill_workers=True)
