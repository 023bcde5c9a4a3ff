"""Texts in another language than the dataset's.

Two witnesses. The letters: most are of a script that the language is not written in. The words: those of another
language of the same script are clearly more frequent than the language's own, by wordfreq's lists. Short texts prove
nothing, so the rule abstains on them; so it does where a text mixes languages about evenly.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from unseen.audits.items.rule import Codes, Items, Mask, counts
from unseen.errors import UnknownNameError

LEAST_LETTERS = 20
LEAST_WORDS = 8
MARGIN = 1.0
"""Zipf values are decimal logarithms: on average the words are ten times as frequent in the other language."""
SCRIPTS = {
    r"\p{Cyrillic}": ("bg", "mk", "ru", "uk"),
    r"\p{Greek}": ("el",),
    r"\p{Arabic}": ("ar", "fa", "ur"),
    r"\p{Hebrew}": ("he",),
    r"\p{Devanagari}": ("hi",),
    r"\p{Bengali}": ("bn",),
    r"\p{Tamil}": ("ta",),
    r"\p{Hangul}": ("ko",),
    r"[\p{Han}\p{Hiragana}\p{Katakana}]": ("ja", "zh"),
    r"\p{Latin}": (
        "ca", "cs", "da", "de", "en", "es", "fi", "fil", "fr", "hu", "id", "is", "it", "lt", "lv", "ms", "nb", "nl",
        "pl", "pt", "ro", "sh", "sk", "sl", "sv", "tr", "vi",
    ),
}  # fmt: skip
LANGUAGES = tuple(sorted(name for names in SCRIPTS.values() for name in names))
UNSPACED = ("ja", "zh")


def check_language(language: str) -> None:
    """Refuse a language nothing is known about."""
    if language not in LANGUAGES:
        raise UnknownNameError.of("language", language, LANGUAGES)


def wrong_language(items: Items) -> Mask:
    """The text is in another language than `items.language`."""
    script, relatives = next(each for each in SCRIPTS.items() if items.language in each[1])
    letters, own = counts(items.said, r"\p{L}"), counts(items.said, script)
    foreign_letters = (letters >= LEAST_LETTERS) & (own * 2 < letters)
    if items.language in UNSPACED:
        return foreign_letters
    return foreign_letters | _foreign_words(items, [each for each in relatives if each not in UNSPACED])


def _foreign_words(items: Items, languages: list[str]) -> Mask:
    """Rows with enough words that are far more frequent in one of the other languages."""
    words, codes, begins = items.form_words
    names = words.to_pylist()
    telling = np.array([len(word) > 1 and not word.isdigit() for word in names], bool)
    row_of = np.repeat(np.arange(len(items)), np.diff(begins))[telling[codes]]
    codes = codes[telling[codes]]
    n = np.bincount(row_of, minlength=len(items))
    sums = {each: _sums(_zipf(names, each), codes, row_of, len(items)) for each in languages}
    own = sums.pop(items.language)
    others = np.max(list(sums.values()), axis=0) if sums else np.full(len(items), -np.inf)
    return (n >= LEAST_WORDS) & (others - own >= MARGIN * np.maximum(n, 1))


def _sums(zipf: npt.NDArray[np.float64], codes: Codes, row_of: Codes, rows: int) -> npt.NDArray[np.float64]:
    return np.bincount(row_of, weights=zipf[codes], minlength=rows).astype(np.float64)


def _zipf(words: list[str], language: str) -> npt.NDArray[np.float64]:
    """How frequent each word is in a language; 0 where its list lacks the word."""
    listed = _list(language)
    return np.array([listed.get(word, 0.0) for word in words])


@cache
def _list(language: str) -> dict[str, float]:
    from wordfreq import get_frequency_dict

    return {word: 9 + float(np.log10(share)) for word, share in get_frequency_dict(language, "small").items()}
