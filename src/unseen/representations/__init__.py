"""Representations: one vector per text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.registry import Registry

ENCODERS = Registry(
    "encoder",
    {
        "tfidf.v1": "unseen.representations.tfidf:TfidfEncoder",
        "minilm.v2": "unseen.representations.transformer:MiniLM",
        "smollm2.v1": "unseen.representations.transformer:SmolLM2",
        "transformer.v1": "unseen.representations.transformer:TransformerEncoder",
    },
    ("encode",),
    {"minilm.v2": "models", "smollm2.v1": "models", "transformer.v1": "models"},
)

__all__ = ["ENCODERS", "encode_texts"]


def encode_texts(texts: Sequence[str], encoder: str, **params: Any) -> npt.NDArray[np.float32]:
    """Vectors of `texts` by the encoder of that name."""
    return np.asarray(ENCODERS.make(encoder, **params).encode(texts), dtype=np.float32)
