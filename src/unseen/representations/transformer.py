"""Vectors of a pretrained transformer, as it comes: no task, no fine-tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unseen.progress import track
from unseen.representations.backbone import Backbone
from unseen.representations.checkpoints import find_checkpoint, stated_pooling


@dataclass(eq=False)
class TransformerEncoder:
    """Last hidden layer of a pretrained transformer, one vector per text.

    `checkpoint` is minilm, smollm2, a folder or a hub name. `pooling` is class, mean or last (default: what the
    makers of a sentence encoder say, mean for minilm; else the class token, and the last token of models that read
    forwards only). `trust` runs code that comes with the model.
    """

    rowwise: ClassVar = True
    """A text's vector does not depend on the other texts, so encoding may go on where it stopped."""

    checkpoint: str = "minilm"
    _: KW_ONLY
    pooling: str | None = None
    max_tokens: int = 128
    precision: str = "auto"
    trust: bool = False

    @cached_property
    def backbone(self) -> Backbone:
        """The network; loaded when first used."""
        return Backbone(
            self.checkpoint,
            pooling=self.pooling or stated_pooling(find_checkpoint(self.checkpoint)),
            max_tokens=self.max_tokens,
            precision=self.precision,
            trust=self.trust,
        )

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One vector per text, computed in batches of like length."""
        import torch

        backbone = self.backbone
        backbone.network.eval()
        tokens = backbone.tokens(texts)
        vectors = np.empty((len(texts), backbone.width), np.float32)
        batches = tokens.batches()
        with torch.inference_mode(), backbone.arithmetic():
            for rows in track(batches, f"encoding with {backbone.checkpoint.name}", len(batches)):
                vectors[rows] = backbone.pooled(tokens, rows).float().cpu().numpy()
        return vectors


class MiniLM(TransformerEncoder):
    """all-MiniLM-L6-v2, 384 numbers per text; its weights come with a Python package."""

    def __init__(self, *, pooling: str | None = None, max_tokens: int = 128, precision: str = "auto") -> None:
        super().__init__("minilm", pooling=pooling, max_tokens=max_tokens, precision=precision)


class SmolLM2(TransformerEncoder):
    """SmolLM2-135M, a decoder: the last token's vector, 576 numbers; its weights come with a Python package."""

    def __init__(self, *, pooling: str | None = None, max_tokens: int = 128, precision: str = "auto") -> None:
        super().__init__("smollm2", pooling=pooling, max_tokens=max_tokens, precision=precision)
