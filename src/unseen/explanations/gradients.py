"""Gradients of the label's logit with respect to word vectors: absolute, times the input, and integrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.explanations.networks import Network
from unseen.explanations.subject import Attributions, ExplainedTexts, summed
from unseen.types.arrays import Floats


@dataclass(frozen=True, eq=False)
class Batch:
    """Texts as word vectors, on their way through a network."""

    network: Network
    vectors: Any
    baseline: Any
    """The same with padding in place of every token but the special ones."""
    real: Any
    labels: Any
    """The column of the label that is explained."""

    def logits(self, vectors: Any, copies: int = 1) -> Any:
        """The logit of the label of each text; `vectors` may hold the batch several times over."""
        logits = self.network.logits(vectors, self.real.repeat(copies, 1))
        return logits.gather(1, self.labels.repeat(copies)[:, None])[:, 0]

    def gradient(self, vectors: Any, copies: int = 1) -> Any:
        """Its gradient at these vectors."""
        import torch

        vectors = vectors.detach().requires_grad_(True)
        with torch.enable_grad():
            return torch.autograd.grad(self.logits(vectors, copies).sum(), vectors)[0]


class Gradient:
    """The sum of absolute values of the gradient (saliency): how much a word matters, for or against. Networks."""

    explains, needs, signed = "logit", "gradients", False

    def passes(self, units: int) -> int:
        """How often the model is asked about a text; a gradient costs about as much as three questions."""
        return 3

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The size of the gradient at each unit."""
        return _by_token(subject, lambda batch: (batch.gradient(batch.vectors).abs().sum(-1), {}))


class GradientInput(Gradient):
    """The gradient times the word vector: what the logit would owe to it if the model were linear. Networks."""

    signed = True

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The product at each unit."""
        return _by_token(subject, lambda batch: ((batch.gradient(batch.vectors) * batch.vectors).sum(-1), {}))


@dataclass
class IntegratedGradients:
    """Gradients on the way from padding to the text, times the way (Sundararajan et al. 2017). Networks.

    The baseline has padding in place of every token but the special ones; `steps` points by Gauss and Legendre.
    The scores should sum to the logit less that of the baseline: `completeness_error` is how far they do not.
    """

    steps: int = 20

    explains, needs, signed = "logit", "gradients", True

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise InputError("integrated gradients need at least one step", got=repr(self.steps))

    def passes(self, units: int) -> int:
        """How often the model is asked about a text; a gradient costs about as much as three questions."""
        return 3 * self.steps + 2

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The integral at each unit."""
        return _by_token(subject, self._integrated, self.steps)

    def _integrated(self, batch: Batch) -> tuple[Any, dict[str, Any]]:
        import torch

        points, weights = np.polynomial.legendre.leggauss(self.steps)
        shape, like = (self.steps, 1, 1, 1), {"dtype": batch.vectors.dtype, "device": batch.vectors.device}
        places, shares = (torch.tensor(numbers, **like).view(shape) for numbers in ((points + 1) / 2, weights / 2))
        way = batch.vectors - batch.baseline
        between = (batch.baseline + places * way).flatten(0, 1)
        gradients = batch.gradient(between, self.steps).view(self.steps, *way.shape)
        scores = (way * (shares * gradients).sum(0)).sum(-1)
        with torch.no_grad():
            gap = batch.logits(batch.vectors) - batch.logits(batch.baseline)
        return scores, {"completeness_error": (scores.sum(-1) - gap).abs()}


def _by_token(
    subject: ExplainedTexts, way: Callable[[Batch], tuple[Any, dict[str, Any]]], copies: int = 1
) -> Attributions:
    """Scores of the units of each text, those of their pieces summed; `copies` of a batch are in memory at once."""
    import torch

    network = inside(subject)
    pieces = network.pieces(subject.texts)
    labels = subject.columns[subject.explained]
    scores: list[Floats] = [np.zeros(0)] * len(subject)
    notes: dict[str, Floats] = {}
    with network.asking():
        for rows, ids, real in network.batches([one.ids for one in pieces], "gradients", copies):
            special = np.zeros(ids.shape, bool)
            for place, row in enumerate(rows):
                spans = pieces[row].spans
                special[place, : len(spans)] = [span is None for span in spans]
            hidden = torch.where(torch.from_numpy(special).to(ids.device), ids, network.padding)
            vectors, baseline = (network.vectors(numbers).detach() for numbers in (ids, hidden))
            batch = Batch(network, vectors, baseline, real, torch.from_numpy(labels[rows]).to(ids.device))
            made, numbers = way(batch)
            for name, values in numbers.items():
                notes.setdefault(name, np.zeros(len(subject)))[rows] = values.double().cpu().numpy()
            for row, of_tokens in zip(rows.tolist(), made.double().cpu().numpy(), strict=True):
                units = subject.units_of_pieces(row)
                scores[row] = summed(of_tokens[: len(units)], units, int(subject.sizes[row]))
    return Attributions(scores, notes)


def inside(subject: ExplainedTexts) -> Network:
    """The inside of the model; refuses one that can only be asked."""
    if subject.network is None:
        raise InputError(
            "gradients and attention are for networks whose tokens are known",
            fix="for a model that can only be asked: occlusion, lime, partition-shap, sampling-occlusion",
        )
    return subject.network
