"""One layer of a trained model as an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class Layer:
    """What a model's `encode` gives at the layer of that name."""

    def __init__(self, model: Any, layer: str) -> None:
        self.model, self.layer = model, layer
        self.rowwise = getattr(model, "rowwise", False)

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One vector per text."""
        return np.asarray(self.model.encode(texts, self.layer), np.float32)
