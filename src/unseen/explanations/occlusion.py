"""Occlusion: how much less probable the label is without a unit."""

from __future__ import annotations

import numpy as np

from unseen.explanations.subject import Attributions, ExplainedTexts


class Occlusion:
    """Leave one out: the probability of the label less that without the unit. Any model."""

    explains, needs, signed = "probability", "answers", True

    def passes(self, units: int) -> int:
        """How often the model is asked about a text of so many units."""
        return units + 1

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The drop of each unit."""
        rows = np.repeat(np.arange(len(subject)), subject.sizes)
        kept = [~row for size in subject.sizes for row in np.eye(size, dtype=bool)]
        drops = subject.whole[rows] - subject.ask(rows, kept)
        return Attributions(np.split(drops, np.cumsum(subject.sizes)[:-1]))
