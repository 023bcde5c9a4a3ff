"""A file that one process at a time holds, and that is free again however that process ends."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock


def lock(path: Path, *, wait: bool) -> FileLock:
    """A block that holds `path`; without `wait` it raises filelock's `Timeout`, an OSError, where another holds it."""
    # without a soft lock, which is a file that a killed process leaves behind; and whichever thread ends the block
    return FileLock(path, blocking=wait, fallback_to_soft=False, thread_local=False)
