"""Ctrl-C and SIGTERM end a command with one message, whatever ran before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SLOW = """
import time
from unseen.splits.selection import _solver
class Recipe:
    def fit(self, train, dev, seed):
        from ortools.sat.python import cp_model
        model = cp_model.CpModel()
        model.maximize(model.new_bool_var("x"))
        _solver(1.0).solve(model)
        open("begun", "w").close()
        time.sleep(60)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_after_a_solve_is_one_message(folder: Path, number: int, code: int, workers: str) -> None:
    (folder / "slow.py").write_text(SLOW)
    words = ["stress", "posts.csv", "--model", "slow:Recipe", "--workers", workers, "--seeds", "1"]
    run = subprocess.Popen(
        [sys.executable, "-m", "unseen", *words], cwd=folder, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # these tests may run where it is ignored
    )  # fmt: skip
    for _ in range(600):
        if (folder / "begun").exists() or run.poll() is not None:
            break
        time.sleep(0.1)
    os.kill(run.pid, number)
    time.sleep(0.05)
    os.killpg(run.pid, number)  # as `timeout` does: the process, then its group; a terminal the group, workers too
    said = run.communicate(timeout=30)[1]
    assert run.returncode == code, said
    assert f"stopped by {signal.Signals(number).name}" in said
    assert "same command again" in said
    assert "Traceback" not in said
