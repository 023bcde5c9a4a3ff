"""A BERT-like network layer by layer, for fewer and fewer texts: what has an answer does not run further."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.representations.backbone import Backbone, Tokens

CLOSE = 1e-3


class LayerWalk:
    """Some texts on their way through the layers of a network.

    Iterating runs one layer at a time and gives a vector for each text after it [texts, width], pooled as the backbone
    pools; `keep` lets texts leave before the next layer, and padding that only they needed leaves with them.
    """

    def __init__(self, backbone: Backbone, tokens: Tokens, rows: npt.NDArray[np.intp]) -> None:
        import torch

        ids, real = tokens.padded(rows, backbone.padding)
        network = backbone.network
        self.real = torch.from_numpy(real).to(backbone.device)
        self.hidden = network.embeddings(input_ids=torch.from_numpy(ids).to(backbone.device))
        if hasattr(network, "embeddings_project"):
            self.hidden = network.embeddings_project(self.hidden)
        self._layers, self._pool = network.encoder.layer, backbone.pool

    def __iter__(self) -> Iterator[Any]:
        for layer in self._layers:
            output = layer(self.hidden, self.real[:, None, None, :])
            self.hidden = output[0] if isinstance(output, tuple) else output
            yield self._pool(self.hidden, self.real)

    def keep(self, going: npt.NDArray[np.bool_]) -> None:
        """Go on with these texts alone."""
        import torch

        staying = torch.from_numpy(going).to(self.hidden.device)
        self.real = self.real[staying]
        longest = int(self.real.sum(1).max())
        self.real, self.hidden = self.real[:, :longest], self.hidden[staying, :longest]


def layers_of(backbone: Backbone) -> int:
    """How many layers a network has that can be walked through; one that gives other vectors then is refused."""
    import torch

    layers = getattr(getattr(backbone.network, "encoder", None), "layer", None)
    if backbone.pooling == "last" or layers is None:
        raise _refused(backbone, f"{backbone.network.config.model_type}, pooled by {backbone.pooling}")
    tokens, rows = backbone.tokens(["a short text", "a text that is somewhat longer"]), np.arange(2)
    training = backbone.network.training
    backbone.network.eval()
    with torch.no_grad():
        try:
            *_, last = LayerWalk(backbone, tokens, rows)
        except (AttributeError, TypeError, RuntimeError) as cause:
            raise _refused(backbone, str(cause)) from cause
        if not torch.allclose(last, backbone.pooled(tokens, rows), atol=CLOSE):
            raise _refused(backbone, "other vectors layer by layer than at once")
    backbone.network.train(training)
    return len(layers)


def _refused(backbone: Backbone, got: str) -> InputError:
    return InputError(
        f"{backbone.checkpoint.name} cannot be stopped after a layer",
        expected="a network like BERT or RoBERTa, read by its class token or by the mean of all tokens",
        got=got,
        fix="take another encoder, minilm for instance",
    )
