"""Folders of one process, for what must not outlive it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX, LOCK = "unseen-", "in-use"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that nobody else can read, gone when the block ends; those that killed processes left go first."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made, (Path(made) / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # held as long as this process lives, however it ends
        yield Path(made)


def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):  # in use, another user's, or gone meanwhile
            if lock.parent.stat().st_uid == os.getuid():
                with lock.open("r+") as held:
                    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(lock.parent)
