"""Where the words come from that an attack puts in the place of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unseen.attacks.worded_text import WordedText
from unseen.errors import InputError
from unseen.representations import encode_texts
from unseen.representations.word_vectors import read_word_vectors
from unseen.types.arrays import Floats

Place = tuple[WordedText, int]
LONGEST = 512
"""Tokens that a masked language model reads of a text, at most."""
AT_ONCE = 64
"""Texts with a mask that a language model reads at once."""


class WordSource(ABC):
    """Words that could stand in a place of a text."""

    @abstractmethod
    def candidates(self, places: Sequence[Place]) -> list[list[str]]:
        """For each place the words that could stand there, the likeliest first."""


class Synonyms(WordSource):
    """Words of a dictionary, whatever stands around."""

    def __init__(self, of: Callable[[str], Sequence[str]]) -> None:
        self._of, self._known = of, dict[str, list[str]]()

    def candidates(self, places: Sequence[Place]) -> list[list[str]]:
        """The synonyms of each word."""
        for text, place in places:
            word = text.words[place].lower()
            if word not in self._known:
                self._known[word] = list(self._of(word))
        return [self._known[text.words[place].lower()] for text, place in places]


class Neighbours(WordSource):
    """Words whose vectors are near: the `most` nearest whose cosine is at least `least`."""

    def __init__(self, words: Sequence[str], vectors: Floats, most: int, least: float) -> None:
        self.words, self.most, self.least = list(words), most, least
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors = np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
        self._rows = {word: row for row, word in enumerate(self.words)}

    def candidates(self, places: Sequence[Place]) -> list[list[str]]:
        """The neighbours of each word, from one product of matrices for all."""
        words = [text.words[place].lower() for text, place in places]
        known = [word for word in dict.fromkeys(words) if word in self._rows]
        rows = np.array([self._rows[word] for word in known], np.intp)
        near = {}
        if len(rows):
            cosines = self.vectors[rows] @ self.vectors.T
            cosines[np.arange(len(rows)), rows] = -2.0  # a word is not its own neighbour
            most = min(self.most, cosines.shape[1])
            nearest = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
            for at, word in enumerate(known):
                order = sorted(nearest[at].tolist(), key=lambda other: (-cosines[at, other], other))
                near[word] = [self.words[other] for other in order if cosines[at, other] >= self.least]
        return [near.get(word, []) for word in words]


def read_neighbours(path: str | Path, most: int, least: float) -> Neighbours:
    """Neighbours by a text file of vectors like GloVe's."""
    vectors = read_word_vectors(path)
    return Neighbours(list(vectors), np.array(list(vectors.values()), np.float64), most, least)


def encoded_neighbours(encoder: str, vocabulary: int, most: int, least: float) -> Neighbours:
    """Neighbours among the commonest English words, each read by itself by an encoder."""
    from wordfreq import top_n_list

    words = [word for word in top_n_list("en", vocabulary) if word.isalpha()]
    return Neighbours(words, encode_texts(words, encoder).astype(np.float64), most, least)


class MaskedWords(WordSource):
    """Whole words that a masked language model puts in a place, the `most` probable ones."""

    def __init__(self, checkpoint: str, most: int, trust: bool = False) -> None:
        from unseen.representations.backbone import Backbone

        opened = Backbone(checkpoint, max_tokens=LONGEST, trust=trust, masked=True)
        self.most, self.longest = most, opened.max_tokens
        self.tokenizer, self.network = opened.tokenizer, opened.network.eval()
        if self.tokenizer.mask_token is None:
            raise InputError(f"{checkpoint} has no mask, so it cannot fill in words")

    @cached_property
    def _whole_words(self) -> Any:
        """Which tokens are whole words: a blank, or nothing, stands before them, and they are letters."""
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        marked = any(name.startswith(("Ġ", "▁")) for name in names)  # byte pairs mark words, word pieces the rest
        begins = [name.startswith(("Ġ", "▁")) if marked else not name.startswith("##") for name in names]
        return np.array([name.lstrip("Ġ▁").isalpha() and first for name, first in zip(names, begins, strict=True)])

    def candidates(self, places: Sequence[Place]) -> list[list[str]]:
        """What the model would put there."""
        import torch

        masked = [text.with_word(place, self.tokenizer.mask_token).text for text, place in places]
        made: list[list[str]] = []
        for start in range(0, len(masked), AT_ONCE):
            read = self.tokenizer(
                masked[start : start + AT_ONCE], truncation=True, max_length=self.longest, padding=True,
                return_tensors="pt",
            ).to(self.network.device)  # fmt: skip
            with torch.inference_mode():
                logits = self.network(**read).logits.cpu()
            for row, ids in enumerate(read["input_ids"]):
                at = (ids == self.tokenizer.mask_token_id).nonzero()[:, 0].tolist()
                made.append(self._likeliest(logits[row, at[0]].numpy()) if at else [])  # it may have been cut off
        return made

    def _likeliest(self, logits: Floats) -> list[str]:
        scores = np.where(self._whole_words, logits[: len(self._whole_words)], -np.inf)
        best = np.argsort(-scores, kind="stable")[: self.most]
        return [self.tokenizer.decode([token]).strip() for token in best.tolist() if np.isfinite(scores[token])]
