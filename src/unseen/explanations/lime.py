"""LIME: a line through what the model says about texts with units erased at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unseen.errors import InputError
from unseen.explanations.subject import Attributions, ExplainedTexts, Kept
from unseen.seeding import generator
from unseen.types.arrays import Floats

RIDGE = 1.0
"""Of the sum of squared weights, beside the sum of weighted squared errors."""


@dataclass
class Lime:
    """LIME (Ribeiro et al. 2016): weights of a ridge regression on texts with units erased at random. Any model.

    How many units go is drawn evenly, then which. A sample counts by exp(−d²/2width²), d being 100 times the cosine
    distance of what is kept from the whole text. With `features` only so many units have a weight, the largest of a
    first fit, and the others zero.
    """

    samples: int = 256
    width: float = 25.0
    features: int | None = None

    explains, needs, signed = "probability", "answers", True

    def __post_init__(self) -> None:
        if self.samples < 2 or not self.width > 0:
            raise InputError("LIME needs at least two samples and a width above 0", got=repr(self))

    def passes(self, units: int) -> int:
        """How often the model is asked about a text of so many units."""
        return min(self.samples, 2**units)

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The weight of each unit."""
        drawn = [self._drawn(subject, row, seed) for row in range(len(subject))]
        rows = np.repeat(np.arange(len(subject)), [len(kept) for kept in drawn])
        answers = subject.ask(rows, [kept for of_text in drawn for kept in of_text])
        parts = np.split(answers, np.cumsum([len(kept) for kept in drawn])[:-1])
        return Attributions([self._weights(kept, own) for kept, own in zip(drawn, parts, strict=True)])

    def _drawn(self, subject: ExplainedTexts, row: int, seed: int) -> list[Kept]:
        """The whole text first, then samples; the same for the same text, whatever texts are beside it."""
        size, draw = int(subject.sizes[row]), generator(seed, "lime", subject.texts[row])
        kept = np.ones((self.samples, size), bool)
        for sample in kept[1:] if size else ():
            sample[draw.permutation(size)[: draw.integers(1, size + 1)]] = False
        return list(kept)

    def _weights(self, kept: list[Kept], answers: Floats) -> Floats:
        design = np.array(kept, np.float64)
        size = design.shape[1]
        if not size:
            return np.zeros(0)
        cosine = np.sqrt(design.sum(axis=1) / size)  # of zeros and ones with all ones
        closeness = np.exp(-((100 * (1 - cosine)) ** 2) / (2 * self.width**2))
        weights = _ridge(design, answers, closeness)
        if self.features is not None and self.features < size:
            chosen = np.argsort(-np.abs(weights), kind="stable")[: self.features]
            weights = np.zeros(size)
            weights[chosen] = _ridge(design[:, chosen], answers, closeness)
        return weights


def _ridge(design: Floats, answers: Floats, closeness: Floats) -> Floats:
    """Weights of a ridge regression; the intercept is free."""
    share = closeness / closeness.sum()
    centred, target = design - share @ design, answers - share @ answers
    gram = (centred.T * closeness) @ centred + RIDGE * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(gram, (centred.T * closeness) @ target))
