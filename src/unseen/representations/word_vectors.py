"""Vectors of words from a text file like GloVe's: on each line a word and its numbers."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.store.files import door


def read_word_vectors(path: str | Path, words: Collection[str] | None = None) -> dict[str, npt.NDArray[np.float32]]:
    """The vectors of these words, or of all; a first line as word2vec writes it, two counts, is passed over."""
    vectors: dict[str, npt.NDArray[np.float32]] = {}
    width = 0
    with door(path, "word vectors"), Path(path).open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            word, *numbers = line.rstrip().split(" ")
            if number == 1 and word.isdigit() and len(numbers) == 1:
                continue
            width = width or len(numbers)
            if words is not None and word not in words:
                continue
            vector = np.asarray(numbers, dtype=np.float32)
            if len(vector) != width or not width or not np.isfinite(vector).all():
                raise InputError(
                    f"line {number} of {path} is no word vector", expected=f"{word} and {width or 'its'} numbers"
                )
            vectors[word] = vector
    if not vectors:
        whose = "" if words is None else " for any word of the texts"
        raise InputError(f"{path} has no word vector{whose}", expected="lower-case words")
    return vectors
