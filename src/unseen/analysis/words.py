"""The words of texts: one tokeniser, one table of counts that every property shares.

Properties of words: how many are rare, which are typical of a class or of any group of texts, and whether these are
the same in test and training.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.analysis.sides import mean_of, sides_of
from unseen.errors import InputError, MismatchError
from unseen.progress import track
from unseen.registry import require_known
from unseen.types import ROWS_AT_ONCE, Dataset, Measurement, Split
from unseen.types.arrays import Mask, Rows

LAST_MARK = 0x1F000
"""Combining marks of scripts lie below it."""
RARE = 3.0
"""Zipf value of a word that occurs once per million words: log10 of occurrences per thousand million."""
English = str | Path | Iterable[str] | None
"""A file with a word per line, or words; None for the list described in `english_words`."""
TOP = 1_500
SMOOTHING = 3
"""Texts. With less, the top words are mostly those seen once, and two random halves of a corpus hardly agree."""


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


def rare_words(data: Dataset, split: Split, words: Words | None = None, english: English = None) -> list[Measurement]:
    """Mean number of rare words in a text, on the training side and in the test part.

    A rare word is in a list of English words and occurs at most once per million words by wordfreq.
    The tag `list` says which list: numbers by different lists cannot be compared.
    """
    sides, words = sides_of(data, split), words_for(data, words)
    name, listed = english_words(english)
    per_text = words.counts @ rare(words, listed)
    return [
        mean_of("rare_words", per_text[rows], sides.tags(part) | {"list": name})
        for part, rows in (("train", sides.train), ("test", sides.test))
    ]


def rare(words: Words, listed: frozenset[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """1 for each word of the vocabulary that is listed and rare, else 0."""
    return np.array([word in listed and _zipf(word) <= RARE for word in words.vocabulary], np.int64)


@cache
def _zipf(word: str) -> float:
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en", wordlist="large"))


def english_words(source: English = None) -> tuple[str, frozenset[str]]:
    """A name for the list and its words in lower case.

    Without a source: every purely alphabetical entry of wordfreq's large English list, which also has names, slang and
    common misspellings.
    """
    if source is None:
        return "wordfreq-large", _wordfreq_words()
    if not isinstance(source, str | Path):
        return "own", frozenset(word for entry in source for word in words_of(entry))
    try:
        lines = Path(source).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as cause:
        raise InputError(
            f"cannot read words from {source}: {cause}", expected="a UTF-8 file, a word per line"
        ) from cause
    listed = frozenset(word for line in lines for word in words_of(line))
    if not listed:
        raise InputError(f"{source} holds no words", expected="a word per line")
    return Path(source).name, listed


@cache
def _wordfreq_words() -> frozenset[str]:
    from wordfreq import get_frequency_dict

    return frozenset(word for word in get_frequency_dict("en", "large") if word.isalpha())


def class_word_overlap(
    data: Dataset, split: Split, words: Words | None = None, neutral: str | None = None, top: int = TOP
) -> list[Measurement]:
    """Share of the words most typical of a class in training that are also most typical of it in test.

    A word scores PMI(word, class) - PMI(word, rest), counted in texts; the `top` words of each side are
    compared, or fewer when one side has fewer words that lean to the class (`n` says how many). One row per
    class, and their mean. `neutral` names a class that is left out.
    """
    if neutral is not None:
        require_known("label", data.label_names, neutral)
    sides, content = sides_of(data, split), words_for(data, words).content
    rows = []
    for code, name in enumerate(data.label_names):
        if name != neutral:
            is_class = data.labels == code
            train, test = (typical_words(content, side, is_class) for side in (sides.train, sides.test))
            n = min(top, len(train), len(test))
            value = len(set(train[:n].tolist()) & set(test[:n].tolist())) / n if n else None
            rows.append(Measurement("class_word_overlap", value, n, slice=f"label={name}", tags=sides.tags()))
    known = [row.value for row in rows if row.value is not None]
    mean = float(np.mean(known)) if known else None
    return [Measurement("class_word_overlap", mean, sum(row.n for row in rows), tags=sides.tags()), *rows]


def typical_words(words: Words, rows: Rows, is_class: Mask) -> Rows:
    """Positions of the words of `rows` that lean to the class, the most typical first.

    PMI(word, class) - PMI(word, rest) is the logarithm of how much likelier the word is in a text of the
    class. The rate of SMOOTHING texts on the side is added to both rates, so a word that was seen once does
    not beat one that was seen often. Equal scores: first the word in more texts, then by alphabet.
    """
    inside, outside = rows[is_class[rows]], rows[~is_class[rows]]
    if not len(inside) or not len(outside):
        return np.empty(0, np.intp)
    own, other = (
        np.bincount(words.counts[side].indices, minlength=len(words.vocabulary)) for side in (inside, outside)
    )
    least = SMOOTHING / len(rows)
    scores = np.log(own / len(inside) + least) - np.log(other / len(outside) + least)
    leaning = np.flatnonzero((own > 0) & (scores > 0))
    order = np.lexsort((leaning, -own[leaning], -scores[leaning]))
    return leaning[order]


def top_words(texts: Iterable[str] | Words, groups: Sequence[Hashable] | Any, top: int = 10) -> dict[Any, list[str]]:
    """The `top` words of each group of texts, the most telling first; groups in the order they appear.

    This is class-based TF-IDF (Grootendorst 2022, section 3.3): a word's weight is its share of the group's words times
    log(1 + mean words per group / its occurrences in all groups). Stop words are left out; a group whose texts hold no
    words gets an empty list.

    >>> top_words(["red red apple", "green pear", "red plum"], ["a", "b", "a"], top=2)
    {'a': ['red', 'apple'], 'b': ['green', 'pear']}
    """
    from scipy.sparse import csr_matrix

    words = (texts if isinstance(texts, Words) else Words.of_texts(texts)).content
    keys = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    if len(keys) != len(words):
        raise InputError("each text needs a group", expected=f"{len(words)} groups", got=str(len(keys)))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    codes = np.array([numbers[key] for key in keys], np.intp)
    member = csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(numbers), len(codes)))
    counts = (member @ words.counts).tocsr()
    counts.sort_indices()
    everywhere = np.asarray(counts.sum(axis=0)).ravel()
    rarity = np.log1p(everywhere.sum() / max(1, len(numbers)) / np.maximum(everywhere, 1))
    best_words = {}
    for key, number in numbers.items():
        own = slice(counts.indptr[number], counts.indptr[number + 1])
        places = counts.indices[own]
        weights = counts.data[own] * rarity[places]  # a group's total is the same for all its words
        best = places[np.lexsort((places, -weights))[:top]]
        best_words[key] = words.vocabulary[best].tolist()
    return best_words


def class_topics(
    data: Dataset, split: Split, words: Words | None = None, top: int = 10
) -> dict[tuple[str, str], list[str]]:
    """The top words of each class on each side: (label, "train" or "test") -> words."""
    sides, words = sides_of(data, split), words_for(data, words)
    rows = np.concatenate([sides.train, sides.test])
    side = ["train"] * len(sides.train) + ["test"] * len(sides.test)
    groups = [(data.label_names[code], part) for code, part in zip(data.labels[rows], side, strict=True)]
    return top_words(Words(words.vocabulary, words.counts[rows]), groups, top)
