"""Data that the tests of splitters share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unseen.splits import clustering

Points = Callable[..., tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


@pytest.fixture(scope="session")
def blobs() -> Points:
    """`blobs(n, d, centres, classes, seed)`: clustered float32 vectors and a class per row."""

    def make(n: int = 300, d: int = 6, centres: int = 8, classes: int = 3, seed: int = 0, spread: float = 4.0) -> Any:
        rng = np.random.default_rng(seed)
        middles = rng.normal(size=(centres, d)) * spread
        X = middles[rng.integers(0, centres, n)] + rng.normal(size=(n, d))
        y = np.concatenate([np.arange(classes), np.arange(classes), rng.integers(0, classes, n - 2 * classes)])
        return X.astype(np.float32), y

    return make


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep computes every answer, even to the last question."""

    class Nothing(dict[str, Any]):
        def __contains__(self, key: object) -> bool:
            return False

    monkeypatch.setattr(clustering, "_last", Nothing())
