"""Networks over the words of a text, in order.

::

    words                        [texts, longest]
      -> word vectors, dropout   [texts, longest, width]
      -> cnn-gru                 windows of 2, 3 and 4 words -> GRU -> largest value over time
         birnn                   LSTM both ways -> last states -> dense -> ReLU
         birnn-attention         LSTM both ways -> mean weighted by attention
      -> dropout -> linear       [texts, labels]
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import torch
from torch import nn

from unseen.data.rationales import Span
from unseen.errors import InputError
from unseen.representations.backbone import Tokens

WORD = re.compile(r"<\w+>|\w+(?:['’]\w+)*|([^\w\s])\1*")
"""A tag such as <user>, a word, or a run of one sign; never across white space, so tokens that are given stay apart."""
PADDING, UNKNOWN = 0, 1
WINDOWS, FILTERS = (2, 3, 4), 100


class KnownWords:
    """The words that a network knows, in lower case, and how it reads a text: at most `longest` of them."""

    def __init__(self, words: Sequence[str], longest: int) -> None:
        self.words, self.longest = tuple(words), longest
        self.places = {word: place for place, word in enumerate(self.words, UNKNOWN + 1)}

    def __len__(self) -> int:
        return len(self.words) + UNKNOWN + 1

    def spans(self, text: str) -> list[Span]:
        """Where the words are that are read."""
        return [word.span() for word, _ in zip(WORD.finditer(text), range(self.longest), strict=False)]

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """The texts as places in the vocabulary; a text without words is one unknown word."""
        rows = [
            [self.places.get(text[start:end].lower(), UNKNOWN) for start, end in self.spans(text)] or [UNKNOWN]
            for text in texts
        ]
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return Tokens(np.asarray([place for row in rows for place in row], np.int32), starts)


def frequent_words(texts: Sequence[str], least: int, most: int, known: Collection[str] = ()) -> list[str]:
    """Words in at least `least` texts, or `known` to somebody; the `most` frequent ones, the commonest first."""
    counts = Counter(word for text in texts for word in {match[0].lower() for match in WORD.finditer(text)})
    often = [word for word, count in counts.items() if count >= least or word in known]
    if not often:
        raise InputError("the texts share no words, so nothing can be learnt from them")
    return sorted(often, key=lambda word: (-counts[word], word))[:most]


def words_of(texts: Sequence[str]) -> set[str]:
    """All words of texts, in lower case."""
    return {match[0].lower() for text in texts for match in WORD.finditer(text)}


class SequenceNetwork(nn.Module, ABC):  # type: ignore[misc]
    """From words to the logits of the labels; what reads the word vectors is up to the kind."""

    def __init__(self, words: int, width: int, vector: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width, padding_idx=PADDING)
        self.dropout = nn.Dropout(dropout)
        self.labels = nn.Linear(vector, labels)

    @abstractmethod
    def read(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """One vector per text, and the attention that each word gets where there is attention."""

    def logits_of_vectors(self, vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Logits, given word vectors [texts, longest, width] and words per text: what explainers differentiate."""
        return self.labels(self.dropout(self.read(vectors, lengths)[0]))

    def forward(self, places: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Logits of texts given as places of words, and their attention."""
        vector, attention = self.read(self.dropout(self.words(places)), lengths)
        return self.labels(self.dropout(vector)), attention


class ConvolutionsAndGRU(SequenceNetwork):
    """Windows of words, read in order by a GRU."""

    def __init__(self, words: int, width: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__(words, width, hidden, labels, dropout)
        self.windows = nn.ModuleList(nn.Conv1d(width, FILTERS, size) for size in WINDOWS)
        self.memory = nn.GRU(FILTERS * len(WINDOWS), hidden, batch_first=True)

    def read(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, None]:
        """The largest value of each state of the GRU over time."""
        real = _real(vectors, lengths)[:, :, None]
        across = (vectors * real).transpose(1, 2)
        around = [nn.functional.pad(across, ((size - 1) // 2, size // 2)) for size in WINDOWS]
        views = [torch.relu(window(padded)) for window, padded in zip(self.windows, around, strict=True)]
        seen = torch.cat(views, dim=1).transpose(1, 2)
        states, _ = self.memory(self.dropout(seen))
        return states.masked_fill(~real, -torch.inf).amax(1), None


class BothWays(nn.Module):  # type: ignore[misc]
    """An LSTM in each direction; reading backwards begins at the last word, so padding changes nothing.

    Two plain passes over turned texts: packing padded texts for torch's own takes twice the time.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.forwards, self.backwards = (nn.LSTM(width, hidden, batch_first=True) for _ in range(2))

    def forward(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """States of both directions after each word [texts, longest, 2 * hidden], and their last ones."""
        places = torch.arange(vectors.shape[1]).expand(vectors.shape[:2])
        last = lengths[:, None] - 1
        turned = torch.where(places <= last, last - places, places)[:, :, None]
        there, _ = self.forwards(vectors)
        back = self.backwards(vectors.take_along_dim(turned, 1))[0].take_along_dim(turned, 1)
        ends = there.take_along_dim(last[:, :, None], 1)[:, 0]
        return torch.cat([there, back], dim=2), torch.cat([ends, back[:, 0]], dim=1)


class LastStates(SequenceNetwork):
    """An LSTM in both directions, and a dense layer on its last states."""

    def __init__(self, words: int, width: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__(words, width, hidden, labels, dropout)
        self.memory = BothWays(width, hidden)
        self.dense = nn.Linear(2 * hidden, hidden)

    def read(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, None]:
        """The dense layer's output."""
        _, last = self.memory(vectors, lengths)
        return torch.relu(self.dense(self.dropout(last))), None


class Attentive(SequenceNetwork):
    """An LSTM in both directions whose states are averaged by attention: their likeness to a context vector."""

    def __init__(self, words: int, width: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__(words, width, 2 * hidden, labels, dropout)
        self.memory = BothWays(width, hidden)
        self.dense = nn.Linear(2 * hidden, 2 * hidden)
        self.context = nn.Linear(2 * hidden, 1, bias=False)

    def read(self, vectors: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean of the states weighted by attention, and that attention [texts, longest]."""
        states, _ = self.memory(vectors, lengths)
        likeness = self.context(torch.tanh(self.dense(states)))[:, :, 0]
        attention = likeness.masked_fill(~_real(vectors, lengths), -torch.inf).softmax(1)
        return (attention[:, :, None] * states).sum(1), attention


NETWORKS: dict[str, type[SequenceNetwork]] = {
    "cnn-gru": ConvolutionsAndGRU, "birnn": LastStates, "birnn-attention": Attentive,
}  # fmt: skip


def _real(vectors: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Which places hold words [texts, longest]."""
    return torch.arange(vectors.shape[1]) < lengths[:, None]
