"""A viewer of a small finished run, and a browser to look at it."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from unseen.viewer.opened import opened
from unseen.viewer.server import Viewer, serve
from unseen.viewer.tasks import task_of

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's chromium, steered by playwright, whose event loop runs in this thread until the file is done."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser: {CHROMIUM} is missing (apt install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as steering:
        started = steering.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def run(finished: Callable[[str], Path], tmp_path: Path) -> Path:
    """A folder of a finished stress run, with texts, that a test may change."""
    return Path(shutil.copytree(finished("stress") / "run", tmp_path / "run"))


@pytest.fixture
def served() -> Callable[..., tuple[str, Viewer]]:
    """`served(folder, …)` serves runs in a thread; the address of the first page, and the viewer."""

    def start(*folders: Path, reviewer: str = "", size: int = 0) -> tuple[str, Viewer]:
        runs, addresses = opened(folders), list[str]()
        viewer = Viewer(runs, task_of(runs[0], reviewer, size, 42) if size else None)
        threading.Thread(target=serve, args=(viewer, 0, addresses.append), daemon=True).start()
        for _ in range(600):
            if addresses:
                return addresses[0], viewer
            time.sleep(0.05)
        raise AssertionError("the viewer does not start")

    return start
