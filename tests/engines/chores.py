"""Small pieces of work for steps, done in other processes too."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from unseen.engines import Step, Workspace
from unseen.errors import InputError


def note(here: Workspace) -> None:
    """Write down that this was done, here and in a log that everybody appends to."""
    said = [path.joinpath("note.txt").read_text() for path in here.needs.values()]
    (here.folder / "note.txt").write_text(f"{here.settings['name']}({','.join(said)})")
    with open(here.settings["log"], "a") as log:
        log.write(here.settings["name"] + "\n")


def refuse(here: Workspace) -> None:
    raise InputError("this cannot be done", fix="something else")


def total(here: Workspace) -> None:
    (here.folder / "deep").mkdir()
    (here.folder / "deep" / "total.txt").write_text(str(sum(here.shared["numbers"])))


def die_once(here: Workspace) -> None:
    """Make some progress, die as a process does that runs out of memory, and go on from there the second time."""
    progress = here.scratch / "progress.txt"
    if not progress.exists():
        here.scratch.mkdir(parents=True, exist_ok=True)
        progress.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)
    note(here)


def die_always(here: Workspace) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(here: Workspace) -> None:
    Path(here.settings["log"]).write_text(str(os.getpid()))
    time.sleep(120)


def threads(here: Workspace) -> None:
    (here.folder / "threads.txt").write_text(os.environ.get("OMP_NUM_THREADS", "unset"))


def interrupted(here: Workspace) -> None:
    """Send this process what Ctrl-C sends."""
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.1)
    (here.folder / "alive.txt").write_text("alive")


def wait_for_two(here: Workspace) -> None:
    """Ends when another one of these runs at the same time."""
    meeting = Path(here.settings["log"])
    with meeting.open("a") as log:
        log.write(here.settings["name"] + "\n")
    end = time.monotonic() + 60
    while len(meeting.read_text().split()) < 2:
        if time.monotonic() > end:
            raise InputError("nobody came")
        time.sleep(0.05)


def step(name: str, log: Path, needs: dict[str, Step] | None = None, work: str = "note", **more: object) -> Step:
    return Step(name, f"chores:{work}", {"name": name, "log": str(log)}, needs or {}, **more)  # type: ignore[arg-type]
