"""Work on many pieces by a pool of Ray actors: pieces are read here, worked on anywhere, and come back here.

Reading is done on the node of this process and results return to it, so no file system has to be shared. Ray Data
streams: only pieces on their way are in memory, and readers wait when workers are slow.
"""

from __future__ import annotations

import logging
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from unseen.engines.local import import_from
from unseen.engines.ray import Ray
from unseen.errors import InputError, MissingPackageError, UnseenError
from unseen.machine import THREAD_VARIABLES

READERS = 2
THREADS = 1
"""Of each worker."""
Read = Callable[[str], Iterator[tuple[str, bytes]]]
"""A place to the keys and contents of the pieces there."""
Work = Callable[[bytes], bytes]
"""The content of a piece to that of its result; made once per actor, so it may keep a model."""


@dataclass(frozen=True)
class Workers:
    """The actors: how many (default: as many as the cluster has room for), and what each of them takes."""

    address: str | None = None
    """Of a Ray cluster; "auto" finds it. None starts one of this machine's cores."""
    count: int | None = None
    gpus: float = 0

    def __post_init__(self) -> None:
        for name, given, least in (("workers", self.count, 1), ("gpus", self.gpus, 0)):
            if given is not None and given < least:
                raise InputError(f"{name} must be at least {least}", got=str(given))

    def results(self, places: Sequence[str], read: Read, work: Work) -> Iterator[tuple[str, bytes]]:
        """The key and the result of each piece, in the order in which they are done.

        What goes wrong in `read` or `work` is raised here as an UnseenError. A worker that dies is replaced and its
        piece done again, without end if it dies of it each time.
        """
        engine = Ray(self.address, None if self.address else self.count, THREADS)
        with engine.connected() as ray:
            planned = self._planned(ray, places, read, work)
            try:
                for row in planned.iter_batches(batch_size=1, batch_format="pyarrow"):
                    yield _opened(row)
            except ray.exceptions.RayError as error:
                reason = str(error).strip().partition("\n")[0]
                raise UnseenError(f"Ray gave up: {reason}", fix="what is finished stays; start it again") from error

    def _planned(self, ray: Any, places: Sequence[str], read: Read, work: Work) -> Any:
        data = _ray_data()
        here = {f"node:{ray.util.get_node_ip_address()}": 0.001}
        every = data.from_items([{"place": place} for place in places])
        # a block per piece: what Ray joins is done by one actor, and lost together
        every.context.target_max_block_size = 1
        one: dict[str, Any] = {"batch_size": 1, "batch_format": "pyarrow"}
        pieces = every.map_batches(
            _read, fn_args=(read, sys.path), num_cpus=0, resources=here, compute=data.TaskPoolStrategy(READERS), **one
        )
        return pieces.map_batches(
            _Worker,
            fn_constructor_args=(work, sys.path),
            compute=data.ActorPoolStrategy(size=self._size(ray)),
            num_cpus=THREADS,
            num_gpus=self.gpus,
            runtime_env={"env_vars": dict.fromkeys(THREAD_VARIABLES, str(THREADS))},
            **one,
        )

    def _size(self, ray: Any) -> int:
        """How many actors there are to be."""
        resources = ray.cluster_resources()
        room = int(resources.get("CPU", 0) // THREADS)
        if self.gpus:
            room = min(room, int(resources.get("GPU", 0) // self.gpus))
        if room < (self.count or 1):
            raise InputError(
                f"the cluster has room for {room} workers of {THREADS} threads and {self.gpus:g} GPUs",
                expected=f"room for {self.count or 1}",
                fix="ask for fewer or smaller workers",
            )
        return self.count or room


def _ray_data() -> Any:
    """Ray Data without its bars, its log lines and its advice."""
    warnings.filterwarnings("ignore", module=r"ray\.")
    try:
        import ray.data as data
    except ImportError as cause:
        raise MissingPackageError.of("ray[data]", "work on large corpora", "ray") from cause
    data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    return data


def _row(key: str, content: bytes, error: UnseenError | None = None) -> pa.Table:
    """One piece in one row, so that Ray, which cuts and joins tables as it likes, can neither cut nor join it."""
    pickled = b"" if error is None else pickle.dumps(error)  # Ray would keep its text only
    return pa.table({"key": [key], "content": pa.array([content], pa.large_binary()), "error": [pickled]})


def _opened(row: pa.Table) -> tuple[str, bytes]:
    error = row["error"][0].as_py()
    if error:
        raise pickle.loads(error)
    return row["key"][0].as_py(), row["content"][0].as_py()


def _read(batch: pa.Table, read: Read, path: Sequence[str]) -> Iterator[pa.Table]:
    import_from(path)
    try:
        for key, content in read(batch["place"][0].as_py()):
            yield _row(key, content)
    except Exception as error:
        yield _row("", b"", _ours(error))


class _Worker:
    """An actor."""

    def __init__(self, work: Work, path: Sequence[str]) -> None:
        import_from(path)
        self.work = work

    def __call__(self, batch: pa.Table) -> pa.Table:
        if batch["error"][0].as_py():
            return batch
        key, content = _opened(batch)
        try:
            return _row(key, self.work(content))
        except Exception as error:
            return _row(key, b"", _ours(error))


def _ours(error: Exception) -> UnseenError:
    """What went wrong in another process: ours as it is, of others the type and the text."""
    return error if isinstance(error, UnseenError) else UnseenError(f"a worker failed: {type(error).__name__}: {error}")
