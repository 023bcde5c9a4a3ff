"""Recipes of a user's own, for studies in other processes."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

from unseen.training import RECIPES
from unseen.types import Dataset


class Noted:
    """The small network; writes down every training that ends, and dies in the midst of one, once."""

    def __init__(self, log: str, die: bool = False) -> None:
        self.log, self.die = log, die

    def fit(self, train: Dataset, dev: Dataset, seed: int) -> Any:
        """A trained network."""
        dead = Path(f"{self.log}.dead")
        if self.die and not dead.exists():
            dead.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        found = RECIPES.make("neural", epochs=1).fit(train, dev, seed)
        with open(self.log, "a") as log:
            log.write(f"{len(train)} {seed} {train.fingerprint}\n")
        return found
