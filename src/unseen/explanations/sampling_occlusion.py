"""Sampling and occlusion: what a word does in contexts such as the training texts have."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.explanations.subject import Attributions, ExplainedTexts
from unseen.seeding import generator
from unseen.types.arrays import Floats

BACK_OFF = 0.4
"""How often a sampler forgets the neighbour and takes any word of the texts; always where it does not know it."""
SMALLEST = 1e-6
"""Of a probability, before its odds are taken."""


class NeighbourSampler:
    """Words that stand beside a word in some texts: what comes next, and what came before."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [text.split() for text in texts]
        beside: tuple[dict[str, Counter[str]], ...] = (defaultdict(Counter), defaultdict(Counter))
        for line in words:
            for left, right in pairwise(line):
                beside[1][left][right] += 1
                beside[0][right][left] += 1
        self._beside = [{word: _shares(counts) for word, counts in side.items()} for side in beside]
        self._any = _shares(Counter(word for line in words for word in line))

    def sampled(self, words: list[str], place: int, radius: int, draw: np.random.Generator) -> list[str]:
        """The words with up to `radius` on each side of a place drawn anew, from the place outwards."""
        made = list(words)
        for side, step in ((0, -1), (1, 1)):
            for distance in range(1, radius + 1):
                at = place + step * distance
                if not 0 <= at < len(words):
                    break
                known = self._beside[side].get(made[at - step])
                if known is None or draw.random() < BACK_OFF:
                    known = self._any
                made[at] = known[0][int(np.searchsorted(known[1], draw.random(), side="right"))]
        return made


def _shares(counts: Counter[str]) -> tuple[list[str], Floats]:
    """Words and the upper ends of their shares."""
    ends = np.cumsum(list(counts.values()), dtype=np.float64)
    return list(counts), ends / ends[-1] if len(ends) else ends


class MaskedSampler:
    """Words that a masked language model puts in the place of those around a word, all at once."""

    def __init__(self, checkpoint: str, trust: bool = False) -> None:
        from unseen.representations.checkpoints import open_pretrained

        self.tokenizer = open_pretrained("AutoTokenizer", checkpoint, trust=trust)
        self.network = open_pretrained("AutoModelForMaskedLM", checkpoint, trust=trust).eval()
        if self.tokenizer.mask_token is None:
            raise InputError(f"{checkpoint} has no mask, so it cannot fill in words")

    def sampled(self, words: list[str], place: int, radius: int, draw: np.random.Generator) -> list[str]:
        """The words with up to `radius` on each side of a place drawn anew."""
        import torch

        around = [at for at in range(max(0, place - radius), min(len(words), place + radius + 1)) if at != place]
        masked = [self.tokenizer.mask_token if at in around else word for at, word in enumerate(words)]
        read = self.tokenizer(" ".join(masked), truncation=True, return_tensors="pt")
        with torch.inference_mode():
            shares = self.network(**read).logits[0].double().softmax(-1)
        places = (read["input_ids"][0] == self.tokenizer.mask_token_id).nonzero()[:, 0].tolist()
        made = list(words)
        for at, token in zip(around, places, strict=False):
            ends = np.cumsum(shares[token].numpy())
            drawn = int(np.searchsorted(ends, draw.random() * ends[-1], side="right"))
            made[at] = self.tokenizer.decode([drawn]).strip() or words[at]
        return made


@dataclass
class SamplingOcclusion:
    """The mean change of the label's log odds when a word goes, over contexts drawn anew (Jin et al. 2020). Any model.

    Up to `radius` words on each side are drawn `samples` times, by which words stand beside each other in `corpus`
    (the texts that are explained, where none is given; give training texts), or by a masked language model, `masked`.
    """

    samples: int = 10
    radius: int = 10
    corpus: Sequence[str] | None = None
    masked: str | None = None
    trust: bool = False

    explains, needs, signed = "log odds", "answers", True

    def __post_init__(self) -> None:
        if self.samples < 1 or self.radius < 0:
            raise InputError("sampling and occlusion needs at least one sample", got=repr(self))

    def passes(self, units: int) -> int:
        """How often the model is asked about a text of so many units."""
        return 2 * self.samples * units

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The change at each word."""
        if subject.units != "words":
            raise InputError("sampling and occlusion is about words", fix="units='words'")
        sampler: Any = (
            NeighbourSampler(subject.texts if self.corpus is None else self.corpus)
            if self.masked is None
            else MaskedSampler(self.masked, self.trust)
        )
        texts: list[str] = []
        for row in range(len(subject)):
            words, draw = subject.words(row), generator(seed, "contexts", subject.texts[row])
            for place in range(len(words)):
                for _ in range(self.samples):
                    made = sampler.sampled(words, place, self.radius, draw)
                    texts += [" ".join(made), " ".join(made[:place] + made[place + 1 :])]
        rows = np.repeat(np.arange(len(subject)), 2 * self.samples * subject.sizes)
        odds = _log_odds(_asked_once(subject, rows, texts)).reshape(-1, self.samples, 2)
        changes = (odds[:, :, 0] - odds[:, :, 1]).mean(axis=1)
        return Attributions(np.split(changes, np.cumsum(subject.sizes)[:-1]))


def _asked_once(subject: ExplainedTexts, rows: Any, texts: Sequence[str]) -> Floats:
    """The answers to texts of which many are the same."""
    pairs = list(dict.fromkeys(zip(subject.explained[rows].tolist(), texts, strict=True)))
    first = {label: int(np.flatnonzero(subject.explained == label)[0]) for label, _ in pairs}
    answers = subject.ask_texts(np.array([first[label] for label, _ in pairs], np.intp), [text for _, text in pairs])
    known = dict(zip(pairs, answers, strict=True))
    return np.array([known[pair] for pair in zip(subject.explained[rows].tolist(), texts, strict=True)])


def _log_odds(probabilities: Floats) -> Floats:
    """Of two labels, the difference of their logits."""
    bounded = np.clip(probabilities, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(bounded) - np.log1p(-bounded))
