"""Folders of one process, for what must not outlive it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from unseen.store.locks import lock

PREFIX, LOCK = "unseen-", "in-use"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that nobody else can read, gone when the block ends; those that killed processes left go first."""
    _remove_abandoned()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as made, lock(Path(made) / LOCK, wait=True):
        yield Path(made)


def _remove_abandoned() -> None:
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{LOCK}"):
        with suppress(OSError):  # in use, another user's, or gone meanwhile
            if path.parent.stat().st_uid == os.getuid():
                with lock(path, wait=False):
                    shutil.rmtree(path.parent)
