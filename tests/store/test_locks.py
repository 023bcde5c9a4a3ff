"""Locks: one holder at a time, and none that outlives its process."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from filelock import Timeout

from unseen.store.files import lock

HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom unseen.store.files import lock\n"
    "with lock(Path(sys.argv[1]), wait=True):\n    print('held', flush=True)\n    time.sleep(600)"
)


def test_a_lock_is_free_again_when_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(Timeout), lock(path, wait=False):
        pass
    holder.kill()
    holder.wait()
    with lock(path, wait=False):
        pass


def test_any_thread_may_end_what_another_began(tmp_path: Path) -> None:
    held = lock(tmp_path / "lock", wait=False).acquire()
    with ThreadPoolExecutor(1) as thread:
        thread.submit(held.__exit__, None, None, None).result()
    with lock(tmp_path / "lock", wait=False):
        pass
