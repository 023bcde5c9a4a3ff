"""The engine that runs steps in processes of this machine."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from unseen.engines.steps import Outcome, Step, Waiting, do_in
from unseen.errors import InputError, UnseenError
from unseen.machine import THREAD_VARIABLES, cores, has_gpu
from unseen.store.files import temporary_folder
from unseen.store.results import Results

ATTEMPTS = 3
"""How often a step is begun whose process dies, of too little memory for instance."""


class Local:
    """Processes of this machine, as many as it has cores, each with one thread unless told otherwise."""

    def __init__(self, workers: int | None = None, threads: int = 1) -> None:
        for name, number in (("workers", workers), ("threads", threads)):
            if number is not None and number < 1:
                raise InputError(f"{name} must be at least 1", got=str(number))
        self.workers = workers or max(1, cores() // threads)
        self.threads = threads

    def run(self, steps: Sequence[Step], results: Results, shared: Mapping[str, Any]) -> Iterator[Outcome]:
        """Do what is not done yet of `steps`, needs first; yields every end as it comes.

        A step that fails does not keep others from being done; those that need it are never begun. A process
        that dies is replaced, and its step begun again where it stopped.
        """
        waiting = Waiting(steps, results)
        if not waiting.open:
            return
        with temporary_folder() as private:
            places = {
                name: _write_shared(content, private / f"{number}.pickle")
                for number, (name, content) in enumerate(shared.items())
            }
            yield from _Crew(self, waiting, results, places, private).outcomes()


class _Crew:
    """Worker processes and what they are doing; each has an executor of its own, so a death is nobody else's."""

    def __init__(
        self, engine: Local, waiting: Waiting, results: Results, places: Mapping[str, str], private: Path
    ) -> None:
        self.engine, self.waiting, self.results, self.places, self.private = engine, waiting, results, places, private
        self.attempts: Counter[str] = Counter()
        self.idle: list[Any] = [None] * engine.workers
        """Executors without work; None is one that is not started yet."""
        self.running: dict[Future[None], tuple[Step, Any]] = {}
        self.queue: list[Step] = []

    def outcomes(self) -> Iterator[Outcome]:
        try:
            self.queue += self.waiting.ready()
            while self.queue or self.running:
                self._submit()
                for outcome in self._finished():
                    self.waiting.ended(outcome)
                    yield outcome
                self.queue += self.waiting.ready()
        finally:
            for executor in filter(None, [*self.idle, *(executor for _, executor in self.running.values())]):
                executor.shutdown(wait=True, kill_workers=True)

    def _submit(self) -> None:
        for step in list(self.queue):
            if not self.idle:
                return
            if step.uses_gpu and has_gpu() and any(other.uses_gpu for other, _ in self.running.values()):
                continue  # one card: its memory is not divided
            self.queue.remove(step)
            self.attempts[step.key] += 1
            executor = self.idle.pop() or self._worker()
            places = {name: self.places[name] for name in step.shared.values()}
            with _deaf_to_interrupts():
                future = executor.submit(_work, str(self.results.path), step, places)
            self.running[future] = (step, executor)

    def _worker(self) -> Any:
        from loky import ProcessPoolExecutor

        # a worker that has trained a large model is started afresh, which is nothing to worry about
        warnings.filterwarnings("ignore", "A worker was restarted", UserWarning)
        return ProcessPoolExecutor(
            1,
            env=dict.fromkeys(THREAD_VARIABLES, str(self.engine.threads)),
            initializer=_begin,
            initargs=(sys.path, os.getpid(), str(self.private)),
        )

    def _finished(self) -> Iterator[Outcome]:
        ended, _ = wait(self.running, return_when=FIRST_COMPLETED)
        for future in ended:
            step, executor = self.running.pop(future)
            error = future.exception()
            if not isinstance(error, BrokenExecutor):
                self.idle.append(executor)
                yield Outcome(step, error if isinstance(error, Exception) else None)
                continue
            self.idle.append(None)
            executor.shutdown(wait=False, kill_workers=True)
            if self.attempts[step.key] < ATTEMPTS:
                self.queue.insert(0, step)
            else:
                died = f"the process of the step {step.name!r} died {ATTEMPTS} times"
                yield Outcome(step, UnseenError(died, fix="take fewer workers (--workers 1) if memory was short"))


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Whatever process is started here never hears of Ctrl-C, which a terminal sends it too: its parent ends it."""
    if threading.current_thread() is not threading.main_thread():  # only that one may say what signals do
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)


def _begin(path: Sequence[str], parent: int, private: str) -> None:
    """Make a worker one that imports what its parent can, and does not outlive it, nor let its texts."""
    import_from(path)
    threading.Thread(target=_end_with, args=(parent, private), daemon=True).start()


def _end_with(parent: int, private: str) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    shutil.rmtree(private, ignore_errors=True)
    os._exit(1)


def import_from(path: Sequence[str]) -> None:
    """Let a worker import what its parent can."""
    sys.path.extend(folder for folder in path if folder not in sys.path)


def _work(store: str, step: Step, places: Mapping[str, str]) -> None:
    do_in(Results(store), step, {name: _read_shared(place) for name, place in places.items()})


def _write_shared(content: Any, path: Path) -> str:
    """Write what workers share to a private file of this run; no other file is ever unpickled."""
    with path.open("wb") as file:
        pickle.dump(content, file, protocol=5)
    return str(path)


@lru_cache(maxsize=4)
def _read_shared(place: str) -> Any:
    with open(place, "rb") as file:
        return pickle.load(file)
