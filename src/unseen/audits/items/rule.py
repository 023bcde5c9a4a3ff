"""Rules that flag items, and what they look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.decoding import repaired, unescaped
from unseen.duplicates import normal_forms
from unseen.types import Dataset

Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

LINK = r"(?i:https?://\S+|www\.\S+|<(?:url|link)>)"
HANDLE = r"@\S+|<user>"
OTHER_MARKS = r"<\w+>"
WORD = r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*"


@dataclass(frozen=True, eq=False)
class Items:
    """The rows that rules look at, each with what several rules need; everything is computed once."""

    data: Dataset
    counted: Mask
    """Rows that rules may count on: those of the training side. All others are only looked up."""
    language: str = "en"
    seed: int = 42

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """Texts as they were meant: UTF-8 that was read as Latin-1 put right, HTML's &amp; read, no space around."""
        return pc.utf8_trim_whitespace(unescaped(repaired(self.data.texts.cast(pa.large_string()))))

    @cached_property
    def lower(self) -> pa.ChunkedArray:
        """`texts` in lower case, with straight apostrophes."""
        return pc.replace_substring(pc.utf8_lower(self.texts), "’", "'")

    @cached_property
    def plain(self) -> pa.ChunkedArray:
        """`texts` without links, handles and placeholders in angle brackets."""
        texts = self.texts
        for pattern in (LINK, HANDLE, OTHER_MARKS):
            texts = pc.replace_substring_regex(texts, pattern, " ")
        return pc.utf8_trim_whitespace(texts)

    @cached_property
    def words(self) -> Codes:
        """How many words each text has; links, handles and punctuation are none."""
        return counts(self.plain, WORD)

    @cached_property
    def forms(self) -> pa.ChunkedArray:
        """What is left of each text when trifles are taken out."""
        return normal_forms(self.texts)

    @cached_property
    def filled(self) -> Mask:
        """Rows of which something is left in their form."""
        return as_mask(pc.not_equal(self.forms, ""))

    @cached_property
    def form_codes(self) -> Codes:
        """A number per row, the same for equal forms."""
        return codes_of(self.forms)

    @cached_property
    def form_words(self) -> tuple[pa.Array, Codes, Codes]:
        """The distinct words of all forms, the code of every word in row order, and where each row begins [rows + 1].

        A row with an empty form has no words.
        """
        split = pc.split_pattern(self.forms.combine_chunks(), " ")
        lengths = np.where(self.filled, _as_codes(pc.list_value_length(split)), 0)
        words = pc.filter(split.flatten(), pc.not_equal(split.flatten(), "")).dictionary_encode()
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        return words.dictionary, _as_codes(words.indices), begins


@dataclass(frozen=True)
class Rule:
    """One reason to doubt that a text is what the task means. It flags or abstains; it never vouches for a text."""

    name: str
    pack: str
    trait: str
    """What is wrong with a text that is flagged."""
    fires: Callable[[Items], Mask]
    """One truth value per row."""
    needs: tuple[str, ...] = ()
    """Beyond the text: `train` (counts of training texts), `label`, `language`, `english` (lists of English words)."""


def matches(texts: pa.ChunkedArray, pattern: str) -> Mask:
    """Which texts hold the pattern."""
    return as_mask(pc.match_substring_regex(texts, pattern))


def counts(texts: pa.ChunkedArray, pattern: str) -> Codes:
    """How often each text holds the pattern."""
    return _as_codes(pc.count_substring_regex(texts, pattern))


def codes_of(texts: pa.ChunkedArray) -> Codes:
    """A number per row, the same for equal texts, from 0 without gaps."""
    return _as_codes(texts.combine_chunks().dictionary_encode().indices)


def as_mask(truths: pa.Array | pa.ChunkedArray) -> Mask:
    """Truth values of Arrow as those of numpy."""
    return np.asarray(truths.to_numpy(zero_copy_only=False), dtype=bool)


def _as_codes(numbers: pa.Array | pa.ChunkedArray) -> Codes:
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.intp)
