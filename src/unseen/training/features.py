"""What recipes make of texts: weighted terms of a vocabulary, hashed terms, or the vectors of an encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.registry import Registry
from unseen.representations import ENCODERS
from unseen.types import finite_float32


@lru_cache(maxsize=2**14)
def _pieces_of(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    sizes = range(2, min(5, len(padded)) + 1)
    return tuple(padded[start : start + size] for size in sizes for start in range(len(padded) - size + 1))


def pieces(text: str) -> list[str]:
    """Pieces of two to five characters within words, as scikit-learn's `char_wb` has them; a word is cut up once."""
    return [piece for word in text.lower().split() for piece in _pieces_of(word)]


WORDS: dict[str, Any] = {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}
BLOCKS: dict[str, dict[str, Any]] = {"words": WORDS, "pieces": {"analyzer": pieces}}
"""Kinds of terms in a vocabulary."""
CHARACTERS: dict[str, dict[str, Any]] = {"characters": {"analyzer": "char", "ngram_range": (2, 6)}}
"""Pieces of two to six characters, across words too, as in Bianchi, Nozza and Hovy (2022)."""
FEWEST_OF_CHARACTERS, MOST_OF_CHARACTERS = 0.001, 0.8
"""Shares of the texts in which such a piece must occur, at least and at most."""
HASHED_PIECES: dict[str, Any] = {"analyzer": "char_wb", "ngram_range": (3, 5)}
MOST_TERMS = 200_000
"""Terms kept per block of a vocabulary: the most frequent ones."""
BUCKETS = 2**22
"""Values of the hash (MurmurHash3) per block; so many that hardly two terms meet."""
ENOUGH_TEXTS = 200
"""From this many texts on, a term must occur in two of them."""


class Vocabulary:
    """Words, pairs of words, and pieces of two to five characters within words, or pieces alone; sublinear TF-IDF.

    It is saved as JSON and numbers.
    """

    def __init__(self, terms: dict[str, list[str]], weights: dict[str, npt.NDArray[np.float64]]) -> None:
        self.terms = terms
        """Terms of each block, in the order of their columns."""
        self.weights = weights
        """Inverse document frequency of each term."""
        self._blocks = [_with_terms(name, terms[name], weights[name]) for name in terms if terms[name]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Vocabulary:
        """The vocabulary of `texts`: words and pieces of them."""
        return cls._fitted(texts, BLOCKS, min_df=least_texts(texts), max_features=MOST_TERMS)

    @classmethod
    def of_characters(cls, texts: Sequence[str]) -> Vocabulary:
        """The pieces of two to six characters that are neither rare nor everywhere."""
        return cls._fitted(texts, CHARACTERS, min_df=FEWEST_OF_CHARACTERS, max_df=MOST_OF_CHARACTERS)

    @classmethod
    def _fitted(cls, texts: Sequence[str], blocks: Iterable[str], **bounds: Any) -> Vocabulary:
        terms: dict[str, list[str]] = {}
        weights: dict[str, npt.NDArray[np.float64]] = {}
        for name in blocks:
            block = _block(name, **bounds)
            try:
                block.fit(texts)
            except ValueError:  # scikit-learn's way of saying that no term is left
                terms[name], weights[name] = [], np.empty(0)
                continue
            terms[name] = block.get_feature_names_out().tolist()
            weights[name] = np.asarray(block.idf_, dtype=np.float64)
        if not any(terms.values()):
            raise InputError("the texts share no words, so TF-IDF says nothing about them")
        return cls(terms, weights)

    def transform(self, texts: Sequence[str]) -> Any:
        """Sparse [texts, terms]."""
        from scipy.sparse import csr_array, hstack

        return csr_array(hstack([block.transform(texts) for block in self._blocks], format="csr"))


def _block(name: str, **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(sublinear_tf=True, **(BLOCKS | CHARACTERS)[name], **options)


def _with_terms(name: str, terms: list[str], weights: npt.NDArray[np.float64]) -> Any:
    if len(weights) != len(terms):
        raise InputError(
            "a vocabulary and its weights do not belong together",
            expected=f"{len(terms)} weights of {name}",
            got=str(len(weights)),
        )
    block = _block(name, vocabulary={term: column for column, term in enumerate(terms)})
    block.idf_ = weights
    return block


class HashedTerms:
    """The hashed terms that training texts hold, and how much each weighs; others are not seen.

    The hash is the same on every machine: there is no vocabulary to keep, numbers only.
    """

    def __init__(self, seen: npt.NDArray[np.int64], weights: npt.NDArray[np.float32]) -> None:
        self.seen = seen
        """Hashes in ascending order; a block's own start at a multiple of `BUCKETS`."""
        self.weights = weights
        """Inverse document frequency of each."""

    def __len__(self) -> int:
        return len(self.seen)

    @classmethod
    def of(cls, texts: HashedTexts) -> HashedTerms:
        """The terms of `texts`."""
        columns = np.concatenate([block.indices.astype(np.int64) + start for start, block in texts.blocks])
        seen, counts = np.unique(columns, return_counts=True)
        often = counts >= least_texts(texts)
        if not often.any():
            raise InputError("the texts share no words, so nothing can be learnt from them")
        weights = np.log((1 + len(texts)) / (1 + counts[often])) + 1
        return cls(seen[often], weights.astype(np.float32))

    def transform(self, texts: HashedTexts) -> Any:
        """Sparse float32 [texts, terms], sublinear TF-IDF; words and pieces have length one each."""
        from scipy.sparse import csr_array, hstack

        parts = []
        for start, block in texts.blocks:
            low, high = np.searchsorted(self.seen, (start, start + BUCKETS))
            parts.append(_weighted(block, self.seen[low:high] - start, self.weights[low:high]))
        return csr_array(hstack(parts, format="csr"))


class HashedTexts:
    """How often each hashed term occurs in each text: words and pairs of words, and pieces within words."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.blocks = [(0, _hasher(WORDS).transform(texts)), (BUCKETS, _hashed_pieces(texts))]
        """Where the hashes of a block start, and its counts, sparse [texts, BUCKETS]."""

    def __len__(self) -> int:
        return int(self.blocks[0][1].shape[0])


def _hasher(block: dict[str, Any], **options: Any) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=BUCKETS, alternate_sign=False, norm=None, dtype=np.float32, **block, **options)


def _hashed_pieces(texts: Sequence[str]) -> Any:
    """Counts of pieces; none crosses a blank, so each distinct word is cut up and hashed once."""
    from scipy.sparse import csr_array

    words: dict[str, int] = {"": 0}
    rows = [[words.setdefault(word, len(words)) for word in text.lower().split()] for text in texts]
    columns = np.fromiter((column for row in rows for column in row), np.int64)
    starts = np.cumsum([0, *map(len, rows)])
    words_of_texts = csr_array((np.ones(len(columns), np.float32), columns, starts), shape=(len(rows), len(words)))
    counts = words_of_texts @ _hasher(HASHED_PIECES, lowercase=False).transform(words)
    counts.sort_indices()
    return counts


def _weighted(block: Any, seen: npt.NDArray[np.int64], weights: npt.NDArray[np.float32]) -> Any:
    """`block` with a column for each of `seen`, rows of length one."""
    from scipy.sparse import csr_array

    places = np.minimum(np.searchsorted(seen, block.indices), max(len(seen) - 1, 0))
    known = seen[places] == block.indices if len(seen) else np.zeros(len(places), dtype=bool)
    rows = np.repeat(np.arange(block.shape[0]), np.diff(block.indptr))[known]
    values = (1 + np.log(block.data[known])) * weights[places[known]]
    lengths = np.sqrt(np.bincount(rows, values.astype(np.float64) ** 2, minlength=block.shape[0]))
    values = (values / lengths[rows]).astype(np.float32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=block.shape[0]))])
    return csr_array((values, places[known], starts), shape=(block.shape[0], len(seen)))


class Vectors:
    """Vectors of an encoder as features."""

    def __init__(self, encode: Callable[[Sequence[str]], Any], name: str | None = None) -> None:
        self.encode = encode
        self.name = name
        """Registered name, by which a saved model finds its encoder again."""

    @classmethod
    def named(cls, name: str, encoders: Registry = ENCODERS) -> Vectors:
        """The registered encoder called `name`; nothing of the user's is imported."""
        full = encoders.full_name(name)
        if ":" in full or full.startswith("tfidf."):
            raise InputError(
                f"{name!r} cannot be features by its name",
                expected=f"tfidf, or an encoder that is the same for every text: {', '.join(encoders)}",
                fix="give the encoder object itself, e.g. features=MyEncoder()",
            )
        return cls(encoders.make(full).encode, full)

    def transform(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Dense [texts, numbers]."""
        vectors = np.asarray(self.encode(list(texts)))
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise InputError(
                "an encoder answered in the wrong shape", expected=f"({len(texts)}, numbers)", got=str(vectors.shape)
            )
        return np.asarray(finite_float32(vectors), dtype=np.float64)


def least_texts(texts: Sized) -> int:
    """In how many of the texts a term must occur."""
    return 2 if len(texts) >= ENOUGH_TEXTS else 1
