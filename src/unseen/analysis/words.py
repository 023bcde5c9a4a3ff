"""The words of texts: one tokeniser, one table of counts that every property shares."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import MismatchError
from unseen.progress import track
from unseen.types import ROWS_AT_ONCE, Dataset

LAST_MARK = 0x1F000
"""Combining marks of scripts lie below it."""


def words_of(text: str) -> list[str]:
    """The words of `text` in lower case: runs of letters, digits and their marks, with apostrophes inside.

    >>> words_of("Don’t say 'it', Zoë: it's rock_n_roll at 9!")
    ["don't", 'say', 'it', 'zoë', "it's", 'rock', 'n', 'roll', 'at', '9']
    """
    text = unicodedata.normalize("NFC", text.lower()).replace("’", "'")
    return (_PLAIN if text.isascii() else _any_script()).findall(text)


_PLAIN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
"""What `_any_script` finds in ASCII, at an eighth of the time."""


@cache
def _any_script() -> re.Pattern[str]:
    r"""Python's `\w` knows no combining marks, without which words of many scripts fall to pieces."""
    marks = "".join(chr(code) for code in range(0x300, LAST_MARK) if unicodedata.category(chr(code)).startswith("M"))
    run = rf"(?:[^\W_]++[{marks}]*+)++"
    return re.compile(rf"{run}(?:'{run})*")


@cache
def stop_words() -> frozenset[str]:
    """scikit-learn's English stop words."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS)


@dataclass(frozen=True, eq=False)
class Words:
    """How often each word is in each text; made once per dataset, used for all its splits."""

    vocabulary: npt.NDArray[np.object_]
    """Distinct words in alphabetical order."""
    counts: Any
    """Sparse table [texts, words] of occurrences."""
    rows: tuple[str, str] | None = None
    """Fingerprint and row order of the dataset; None when made from texts alone."""

    @classmethod
    def of(cls, data: Dataset) -> Words:
        """The words of a dataset's texts."""
        batches = -(-len(data) // ROWS_AT_ONCE)
        texts = (text for (batch,) in track(data.batches("text"), "words", batches) for text in batch)
        words = cls.of_texts(texts)
        return cls(words.vocabulary, words.counts, (data.fingerprint, data.order))

    @classmethod
    def of_texts(cls, texts: Iterable[str]) -> Words:
        """The words of any texts."""
        from scipy.sparse import csr_matrix

        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        occurrences, ends = array("i"), array("q", [0])
        for text in texts:
            occurrences.extend(map(numbers.__getitem__, words_of(text)))
            ends.append(len(occurrences))
        vocabulary = np.array(list(numbers), dtype=object)
        order = np.argsort(vocabulary, kind="stable")
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        columns = place[np.frombuffer(occurrences, np.int32)] if occurrences else np.empty(0, np.int32)
        shape = (len(ends) - 1, len(vocabulary))
        counts = csr_matrix((np.ones(len(columns), np.int32), columns, np.frombuffer(ends, np.int64)), shape=shape)
        counts.sum_duplicates()
        return cls(vocabulary[order], counts)

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Words of each text, stop words too."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int64)).ravel()

    @cached_property
    def content(self) -> Words:
        """The same without stop words."""
        common = stop_words()
        kept = np.flatnonzero([word not in common for word in self.vocabulary])
        return Words(self.vocabulary[kept], self.counts[:, kept], self.rows)

    def for_data(self, data: Dataset) -> Words:
        """Itself; refuses a dataset whose texts or row order are others."""
        if self.rows != (data.fingerprint, data.order):
            raise MismatchError("the words are those of another dataset", fix="Words.of(data) of this one")
        return self


def words_for(data: Dataset, words: Words | None) -> Words:
    """`words` when they are those of `data`; without any, made now."""
    return Words.of(data) if words is None else words.for_data(data)
