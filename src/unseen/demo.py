"""The whole job on the bundled sample."""

from __future__ import annotations

import shlex
from pathlib import Path

from unseen.runs.frame import Result
from unseen.runs.stress import stress

MODEL = "neural"
"""A small network trains in seconds; `minilm` takes some ten minutes."""


def demo(out: str | Path, model: str = MODEL, seed: int = 42) -> Result:
    """The sample, random and hard splits of it, a model trained on each, a report; all in the folder `out`."""
    command = shlex.join(["unseen", "demo", "--out", str(out), "--model", model, "--seed", str(seed)])
    return stress(
        "sample", model=model, out=out, seed=seed, slices=("topic",), texts=True, command=command, workers=None
    )
