"""When a classifier with an answer after every layer may stop: three rules, one form.

A rule follows the texts of a batch from layer to layer. After each it gives an answer per text and a score, how ready
the text is to stop; a text stops at the first layer whose score reaches a threshold, and after the last layer anyway.
So one pass through all layers tells where every text would stop at any threshold (`ExitTrace`).
"""

from __future__ import annotations

import math
from typing import ClassVar, Protocol

import numpy as np

from unseen.errors import InputError
from unseen.types import ExitTrace
from unseen.types.arrays import Floats, Mask

BOUNDS = ("published", "tight")
NEVER, AT_ONCE = 1e9, -1e9
"""Thresholds at which no text stops early, and every text stops after the first layer."""
AVERAGE, EXITS, LAYERS = "average", "exits", "layers"
"""What the second phase trains by: the loss of the averaged answer and a price for halting values; the loss of the
classifiers after inner layers, the network frozen; the loss of all layers."""


class HaltingRule(Protocol):
    """When a text stops."""

    sign: ClassVar[int]
    """Of a threshold of the user's, in scores."""
    trains: ClassVar[str]
    """What the second phase trains by."""

    def __init__(self, layers: int, bound: str = "published") -> None: ...

    def after(self, probabilities: Floats, halting: Floats) -> tuple[Floats, Floats]:
        """Answers [texts, labels] and scores [texts] with one layer more."""

    def keep(self, going: Mask) -> None:
        """Forget the texts that stop."""


class Dact:
    """DACT-BERT (Eyzaguirre et al. 2022): layers are averaged, and halting values say how much later ones still weigh.

    The score is the certain lead of the best label: what it keeps if all later layers speak against it, less what the
    runner-up gets if they all speak for it. From a lead of 0 on no later layer can change the answer. Answers must be
    probabilities: the bound rests on it. `tight` knows that all labels together have no more than one.
    """

    sign: ClassVar = -1
    """A threshold of the user's is a lead that may be lacking."""
    trains: ClassVar = AVERAGE

    def __init__(self, layers: int, bound: str = "published") -> None:
        self.left, self.bound = layers, bound
        self.answers: Floats | None = None
        self.weight: Floats = np.ones(1)
        """What the next layer weighs: p, the product of the halting values so far."""

    def after(self, probabilities: Floats, halting: Floats) -> tuple[Floats, Floats]:
        """Answers [texts, labels] and scores [texts] with one layer more."""
        self.left -= 1
        weight = np.broadcast_to(self.weight, len(probabilities))
        before = probabilities if self.answers is None else self.answers
        self.answers = weight[:, None] * probabilities + (1 - weight[:, None]) * before
        self.weight = weight * halting
        return self.answers, self._lead(self.answers, self.weight)

    def _lead(self, answers: Floats, weight: Floats) -> Floats:
        if answers.shape[1] < 2:
            return np.ones(len(answers))
        runner_up, best = np.partition(answers, -2, axis=1)[:, -2:].T
        kept = (1 - weight) ** self.left
        most = 1 - (1 - runner_up) * kept if self.bound == "tight" else runner_up + weight * self.left
        return np.asarray(best * kept - most)

    def keep(self, going: Mask) -> None:
        """Forget the texts that stop."""
        assert self.answers is not None
        self.answers, self.weight = self.answers[going], self.weight[going]


class Entropy:
    """DeeBERT (Xin et al. 2020): stop where the entropy of a layer's own answer, in nats, is low enough."""

    sign: ClassVar = -1
    trains: ClassVar = EXITS

    def __init__(self, layers: int, bound: str = "published") -> None:
        del layers, bound

    def after(self, probabilities: Floats, halting: Floats) -> tuple[Floats, Floats]:
        """The layer's answers, and minus their entropy."""
        del halting
        logarithms = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
        return probabilities, (probabilities * logarithms).sum(axis=1)

    def keep(self, going: Mask) -> None:
        """Nothing is remembered."""


class Patience:
    """PABEE (Zhou et al. 2020): stop where so many layers in a row have left the answer as it was."""

    sign: ClassVar = 1
    trains: ClassVar = LAYERS

    def __init__(self, layers: int, bound: str = "published") -> None:
        del layers, bound
        self.label: np.ndarray[tuple[int], np.dtype[np.intp]] | None = None
        self.unchanged: Floats = np.zeros(1)

    def after(self, probabilities: Floats, halting: Floats) -> tuple[Floats, Floats]:
        """The layer's answers, and how many layers in a row have confirmed them."""
        del halting
        label = probabilities.argmax(axis=1)
        same = np.zeros(len(label), bool) if self.label is None else label == self.label
        self.label, self.unchanged = label, np.where(same, self.unchanged + 1, 0.0)
        return probabilities, self.unchanged

    def keep(self, going: Mask) -> None:
        """Forget the texts that stop."""
        assert self.label is not None
        self.label, self.unchanged = self.label[going], self.unchanged[going]


HALTING: dict[str, type[HaltingRule]] = {"dact": Dact, "entropy": Entropy, "patience": Patience}


def promised_threshold(trace: ExitTrace, rate: float) -> float:
    """The lowest threshold at which at most this share of texts is expected to get another answer than at full depth.

    Conformal risk control (Angelopoulos et al. 2024) on texts that the model has not been chosen by: the promise is
    about the mean over draws of such texts and of one more from the same source, and about no other source. A text
    counts as lost at a threshold if any threshold from there upwards changes its answer, so that the risk only grows
    as the threshold falls. With too few texts for the rate, nothing stops early.
    """
    if not 0 < rate < 1:
        raise InputError("a rate of disagreement must be between 0 and 1", got=str(rate))
    highest = np.maximum.accumulate(trace.scores, axis=1)
    stops = np.diff(highest, axis=1, prepend=-np.inf) > 0  # the layers at which some threshold stops
    differs = stops & (trace.answers != trace.answers[:, -1:])
    differs[:, -1] = False
    lost_from = np.where(differs, highest, -np.inf).max(axis=1, initial=-np.inf)
    allowed = math.floor(rate * (len(lost_from) + 1) - 1)
    if allowed < 0:
        return NEVER
    limit = np.sort(lost_from)[::-1][allowed]
    return float(np.nextafter(limit, np.float32(np.inf), dtype=np.float32)) if np.isfinite(limit) else AT_ONCE
