"""A small recurrent network over words, as the examples need it.

::

    words                    [texts, longest]
      -> embedding, dropout  [texts, longest, embedding]
      -> LSTM                [texts, hidden] last state; both directions side by side when `both_ways`
      -> dropout -> linear   [texts, labels]
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, require
from unseen.progress import track
from unseen.seeding import child_seed, generator
from unseen.training.neural import one_thread

WORD = re.compile(r"\w+")
PADDING, UNKNOWN = 0, 1
TEXTS_AT_ONCE = 1024


def words_of(text: str, longest: int) -> list[str]:
    """The first `longest` words of a text, in lower case."""
    return WORD.findall(text.lower())[:longest]


@dataclass(frozen=True)
class WordNetwork:
    """Settings of the network; `fit` trains one."""

    embedding: int = 200
    hidden: int = 50
    both_ways: bool = False
    dropout: tuple[float, float] = (0.25, 0.5)
    """After the embedding, and before the last layer."""
    epochs: int = 10
    batch: int = 128
    longest: int = 60
    """Words of a text that are read."""
    rate: float = 1e-3

    def __post_init__(self) -> None:
        whole = {name: getattr(self, name) for name in ("embedding", "hidden", "epochs", "batch", "longest")}
        problems = [f"{name} must be at least 1, not {value!r}" for name, value in whole.items() if value < 1]
        problems += [
            f"dropout must be from 0 to below 1, not {share!r}" for share in self.dropout if not 0 <= share < 1
        ]
        if not self.rate > 0:
            problems.append(f"rate must be above 0, not {self.rate!r}")
        if problems:
            raise InputError("settings of the network are wrong", problems=problems)

    def fit(self, texts: Sequence[str], labels: npt.NDArray[Any], n_labels: int, seed: int) -> TrainedWords:
        """The network trained on these texts; the same for the same seed."""
        require("models", "a network over words")
        import torch

        words = {word for text in texts for word in words_of(text, self.longest)}
        places = {word: place for place, word in enumerate(sorted(words), start=UNKNOWN + 1)}
        rows, sizes = _padded(texts, places, self.longest)
        gold = torch.from_numpy(np.asarray(labels, np.int64))
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(child_seed(seed, "word network"))
            network = self._network(len(places) + 2, n_labels)
            optimiser = torch.optim.Adam(network.parameters(), lr=self.rate)
            network.train()
            for epoch in track(range(self.epochs), "train word network", self.epochs):
                order = generator(seed, "word network", epoch).permutation(len(texts))
                for start in range(0, len(order), self.batch):
                    chosen = torch.from_numpy(order[start : start + self.batch])
                    scores = _scores(network, rows[chosen], sizes[chosen])
                    loss = torch.nn.functional.cross_entropy(scores, gold[chosen])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
        return TrainedWords(places, network.eval(), self.longest, n_labels)

    def _network(self, words: int, n_labels: int) -> Any:
        from torch import nn

        network = nn.Module()
        network.words = nn.Embedding(words, self.embedding, padding_idx=PADDING)
        network.after_words, network.before_labels = (nn.Dropout(share) for share in self.dropout)
        network.memory = nn.LSTM(self.embedding, self.hidden, batch_first=True, bidirectional=self.both_ways)
        network.labels = nn.Linear(self.hidden * (2 if self.both_ways else 1), n_labels)
        return network


class TrainedWords:
    """A trained network: its word vectors, and its probabilities."""

    def __init__(self, places: dict[str, int], network: Any, longest: int, n_labels: int) -> None:
        self.places, self.network, self.longest, self.n_labels = places, network, longest, n_labels

    def mean_vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Mean vector of the known words of each text [texts, embedding]; zeros for a text without any."""
        vectors = self.network.words.weight.detach().numpy()
        means = np.zeros((len(texts), vectors.shape[1]), np.float32)
        for row, text in enumerate(texts):
            known = [self.places[word] for word in words_of(text, self.longest) if word in self.places]
            if known:
                means[row] = vectors[known].mean(axis=0)
        return means

    def probabilities(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, labels]."""
        import torch

        rows, sizes = _padded(texts, self.places, self.longest)
        probabilities = np.empty((len(texts), self.n_labels))
        with one_thread(), torch.no_grad():
            for start in range(0, len(texts), TEXTS_AT_ONCE):
                chosen = slice(start, start + TEXTS_AT_ONCE)
                scores = _scores(self.network, rows[chosen], sizes[chosen])
                probabilities[chosen] = scores.double().softmax(1).numpy()
        return probabilities


def _padded(texts: Sequence[str], places: dict[str, int], longest: int) -> tuple[Any, Any]:
    """Places of the words [texts, longest], and how many there are; an empty text is one unknown word."""
    import torch

    rows, sizes = np.zeros((len(texts), longest), np.int64), np.ones(len(texts), np.int64)
    for row, text in enumerate(texts):
        words = [places.get(word, UNKNOWN) for word in words_of(text, longest)] or [UNKNOWN]
        rows[row, : len(words)], sizes[row] = words, len(words)
    return torch.from_numpy(rows), torch.from_numpy(sizes)


def _scores(network: Any, rows: Any, sizes: Any) -> Any:
    import torch
    from torch.nn.utils.rnn import pack_padded_sequence

    vectors = network.after_words(network.words(rows[:, : int(sizes.max())]))
    packed = pack_padded_sequence(vectors, sizes, batch_first=True, enforce_sorted=False)
    _, (last, _) = network.memory(packed)  # [directions, texts, hidden]
    return network.labels(network.before_labels(torch.cat(list(last), dim=1)))
