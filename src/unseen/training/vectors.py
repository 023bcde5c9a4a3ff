"""Vectors of an encoder as the features of a linear model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.registry import Registry
from unseen.representations import ENCODERS
from unseen.types import finite_float32


class Vectors:
    """Vectors of an encoder as features."""

    def __init__(self, encode: Callable[[Sequence[str]], Any], name: str | None = None) -> None:
        self.encode = encode
        self.name = name
        """Registered name, by which a saved model finds its encoder again."""

    @classmethod
    def named(cls, name: str, encoders: Registry = ENCODERS) -> Vectors:
        """The registered encoder called `name`; nothing of the user's is imported."""
        full = encoders.full_name(name)
        if ":" in full or full.startswith("tfidf."):
            raise InputError(
                f"{name!r} cannot be features by its name",
                expected=f"tfidf, or an encoder that is the same for every text: {', '.join(encoders)}",
                fix="give the encoder object itself, e.g. features=MyEncoder()",
            )
        return cls(encoders.make(full).encode, full)

    def transform(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Dense [texts, numbers]."""
        vectors = np.asarray(self.encode(list(texts)))
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InputError(
                "an encoder answered in the wrong shape", expected=f"({len(texts)}, numbers)", got=str(vectors.shape)
            )
        return np.asarray(finite_float32(vectors), dtype=np.float64)
