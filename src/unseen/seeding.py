"""Named child seeds from one seed, the same on every machine.

A run has one seed. Each step that draws asks for a child by name, so adding a step, or running
steps in another order, changes nobody else's numbers.
"""

from __future__ import annotations

import hashlib

import numpy as np


def child_seed(seed: int, *names: str | int) -> int:
    """A 32-bit seed that depends on `seed` and `names` alone.

    >>> child_seed(42, "kmeans", 0) == child_seed(42, "kmeans", 0)
    True
    >>> child_seed(42, "kmeans", 0) == child_seed(42, "kmeans", 1)
    False
    """
    path = "/".join(str(part) for part in (seed, *names))
    return int.from_bytes(hashlib.sha256(path.encode()).digest()[:4], "big")


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A random generator for the step called `names`."""
    return np.random.Generator(np.random.PCG64(child_seed(seed, *names)))
