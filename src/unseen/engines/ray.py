"""The engine that runs steps as Ray tasks, on this machine or on a cluster.

Results travel through Ray's object store, so no file system has to be shared: a worker unpacks what its step
needs into a store of its node, does the step there, and sends the files back; this process keeps them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.engines.local import import_from
from unseen.engines.steps import Outcome, Step, Waiting, do_in
from unseen.errors import InputError, MissingPackageError, UnseenError
from unseen.machine import THREAD_VARIABLES, cores
from unseen.store.files import read_json
from unseen.store.results import RECORD, Results

RETRIES = 3
"""How often Ray begins a step again whose worker or node was lost."""
Files = dict[str, npt.NDArray[np.uint8]]
"""A result on its way: file names and contents, which workers of one node read without a copy."""


class Ray:
    """A Ray cluster: the one at `address` ("auto" finds it), or one of this machine's cores for the time of the run."""

    def __init__(self, address: str | None = None, workers: int | None = None, threads: int = 1) -> None:
        if address is not None and workers is not None:
            raise InputError("workers has no effect on a cluster that is there already", fix="leave it out")
        self.address, self.workers, self.threads = address, workers, threads

    def run(self, steps: Sequence[Step], results: Results, shared: Mapping[str, Any]) -> Iterator[Outcome]:
        """Do what is not done yet of `steps`, needs first; yields every end as it comes.

        A step that fails does not keep others from being done; those that need it are never begun. When a worker
        or a node is lost, Ray does its step elsewhere.
        """
        waiting = Waiting(steps, results)
        if waiting.open:
            with self.connected():
                yield from _Run(self, waiting, results, shared).outcomes()

    @contextmanager
    def connected(self) -> Iterator[Any]:
        """The `ray` module with a cluster behind it; one that was started for this is stopped again."""
        ray = _ray()
        if ray.is_initialized():
            yield ray
            return
        cpus = (self.workers or cores()) * self.threads
        local = {} if self.address else {"num_cpus": cpus, "include_dashboard": False}
        try:
            ray.init(self.address, log_to_driver=False, logging_level="ERROR", **local)
        except (ConnectionError, ValueError, RuntimeError) as cause:
            raise InputError(
                f"no Ray cluster answers at {self.address or 'this machine'}: {cause}",
                fix="leave --address out for a cluster of this machine",
            ) from cause
        try:
            yield ray
        finally:
            ray.shutdown()


class _Run:
    """The tasks of one run."""

    def __init__(self, engine: Ray, waiting: Waiting, results: Results, shared: Mapping[str, Any]) -> None:
        self.engine, self.waiting, self.results, self.ray = engine, waiting, results, _ray()
        self.shared = {name: self.ray.put(content) for name, content in shared.items()}
        self.made: dict[str, Any] = {}
        """References to results that open steps still need."""
        self.open_needs = Counter(need.key for step in waiting.open.values() for need in step.needs.values())
        """How many open steps need each result."""
        self.running: dict[Any, Step] = {}
        self.place = f"unseen-{secrets.token_hex(6)}"
        self.work = self.ray.remote(_work)
        self.has_gpus = self.ray.cluster_resources().get("GPU", 0) >= 1

    def outcomes(self) -> Iterator[Outcome]:
        try:
            self._submit()
            while self.running:
                (reference,), _ = self.ray.wait(list(self.running), num_returns=1)
                outcome = self._ended(reference, self.running.pop(reference))
                self.waiting.ended(outcome)
                yield outcome
                self._submit()
        finally:
            for reference in self.running:
                self.ray.cancel(reference, force=True)
            self._clean()

    def _submit(self) -> None:
        for step in self.waiting.ready():
            needs = [self._reference(need) for need in step.needs.values()]
            shared = [self.shared[name] for name in step.shared.values()]
            task = self.work.options(
                name=step.name,
                num_cpus=self.engine.threads,
                num_gpus=int(step.uses_gpu and self.has_gpus),
                max_retries=RETRIES,
                runtime_env={"env_vars": dict.fromkeys(THREAD_VARIABLES, str(self.engine.threads))},
            )
            self.running[task.remote(self.place, sys.path, step, *shared, *needs)] = step

    def _reference(self, need: Step) -> Any:
        if need.key not in self.made:
            self.made[need.key] = self.ray.put(_packed(self.results.folder(need.key)))
        return self.made[need.key]

    def _ended(self, reference: Any, step: Step) -> Outcome:
        from ray.exceptions import RayError, RayTaskError

        try:
            _unpack(self.results, step.key, self.ray.get(reference))
        except RayTaskError as error:
            cause = error.cause
            return Outcome(step, cause if isinstance(cause, Exception) else error)
        except RayError as error:
            return Outcome(step, UnseenError(f"Ray lost the step {step.name!r}: {error}"))
        if self.open_needs[step.key]:
            self.made[step.key] = reference
        for need in step.needs.values():
            self.open_needs[need.key] -= 1
            if not self.open_needs[need.key]:
                self.made.pop(need.key, None)  # Ray may forget it
        return Outcome(step)

    def _clean(self) -> None:
        """Remove what the nodes have kept."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On

        remove = self.ray.remote(_remove)
        alive = [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]
        done = [
            remove.options(num_cpus=0, scheduling_strategy=On(node, soft=False)).remote(self.place) for node in alive
        ]
        with suppress(Exception):  # a node that is gone has nothing left to remove
            self.ray.get(done, timeout=30)


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is sent anywhere unless somebody asks for it
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray asks for one of the two to be said
    try:
        import ray
    except ImportError as cause:
        raise MissingPackageError.of("ray", "the engine 'ray'", "ray") from cause
    return ray


def _work(place: str, path: Sequence[str], step: Step, *given: Any) -> Files:
    """Do one step on a node; `given` are first what it shares, then what it needs."""
    import_from(path)
    here = Results(_on_this_node(place))
    shared = dict(zip(step.shared.values(), given, strict=False))
    for need, files in zip(step.needs.values(), given[len(step.shared) :], strict=True):
        _unpack(here, need.key, files)
    do_in(here, step, shared)
    return _packed(here.folder(step.key))


def _packed(folder: Path) -> Files:
    return {str(path.relative_to(folder)): np.fromfile(path, np.uint8) for path in folder.rglob("*") if path.is_file()}


def _unpack(results: Results, key: str, files: Files) -> None:
    """Write a result that has arrived, unless it is there."""
    with results.claimed(key):
        if results.has(key):
            return
        about: dict[str, Any] = {}
        with results.writing(key, about) as folder:
            for name, content in files.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                content.tofile(folder / name)
            about |= read_json(folder / RECORD)
            (folder / RECORD).unlink()


def _on_this_node(place: str) -> Path:
    return Path(tempfile.gettempdir()) / place


def _remove(place: str) -> None:
    shutil.rmtree(_on_this_node(place), ignore_errors=True)
