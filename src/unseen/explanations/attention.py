"""Attention of the token that decides, in the last layer: shown because people ask for it, not because it explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.explanations.gradients import inside
from unseen.explanations.networks import Attended
from unseen.explanations.subject import Attributions, ExplainedTexts, summed
from unseen.types.arrays import Floats


class Attention:
    """What the class token attends to in the last layer, the mean of its heads. Transformers, attentive networks."""

    explains, needs, signed = "attention", "attention", False

    def passes(self, units: int) -> int:
        """How often the model is asked about a text."""
        return 1

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The weight of each unit."""
        network = inside(subject)
        if not network.attends:
            raise InputError("this model has no attention", fix="another method")
        pieces = network.pieces(subject.texts)
        scores: list[Floats] = [np.zeros(0)] * len(subject)
        for rows, ids, real in network.batches([one.ids for one in pieces], "attention"):
            weights = self.weights(network.attended(ids, real), real)
            for row, of_tokens in zip(rows.tolist(), weights.double().cpu().numpy(), strict=True):
                units = subject.units_of_pieces(row)
                scores[row] = summed(of_tokens[: len(units)], units, int(subject.sizes[row]))
        return Attributions(scores)

    def weights(self, attended: Attended, real: Any) -> Any:
        """The weight of each token [texts, tokens]."""
        return attended.weights.mean(1)


class EffectiveAttention(Attention):
    """Attention less what its values cannot tell apart (Brunner et al. 2020). Transformers.

    It differs from attention only in texts of more tokens than a head is wide: 32 for MiniLM, 64 for BERT.
    """

    def weights(self, attended: Attended, real: Any) -> Any:
        """The weight of each token, its part in the left null space of the values taken out."""
        import torch

        if attended.values is None:
            raise InputError("this network does not show its values", fix="attention, without 'effective'")
        effective = torch.zeros_like(attended.weights)
        for text, length in enumerate(real.sum(1).tolist()):
            values, weights = attended.values[text, :, :length].double(), attended.weights[text, :, :length].double()
            left, sizes, _ = torch.linalg.svd(values, full_matrices=True)
            for head in range(len(weights)):
                rank = int((sizes[head] > sizes[head].max() * length * torch.finfo(torch.float32).eps).sum())
                null = left[head][:, rank:]
                effective[text, head, :length] = (weights[head] - (weights[head] @ null) @ null.T).float()
        return effective.mean(1)
