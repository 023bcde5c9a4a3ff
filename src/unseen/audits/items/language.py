"""Texts in another language than the dataset's.

Two witnesses. The letters: most are of a script that the language is not written in. The words: those of another
language of the same script are clearly more frequent than the language's own, by wordfreq's lists. Short texts prove
nothing, so the rule abstains on them; so it does where a text mixes languages about evenly.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from unseen.audits.items.rule import Items, Mask, counts
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
    script, languages = next(of_script for of_script in SCRIPTS.items() if items.language in of_script[1])
    letters, own = counts(items.plain, r"\p{L}"), counts(items.plain, script)
    foreign_letters = (letters >= LEAST_LETTERS) & (own * 2 < letters)
    if items.language in UNSPACED:
        return foreign_letters
    return foreign_letters | _foreign_words(items, languages)


def _foreign_words(items: Items, languages: tuple[str, ...]) -> Mask:
    """Rows with enough words that are far more frequent in one of the other languages."""
    words, codes, begins = items.form_words
    names = words.to_pylist()
    telling = np.array([len(word) > 1 and not word.isdigit() for word in names], bool)
    row_of = np.repeat(np.arange(len(items)), np.diff(begins))[telling[codes]]
    codes = codes[telling[codes]]
    n = np.bincount(row_of, minlength=len(items))
    sums = {}
    for language in languages:
        listed = _zipf(language)
        zipf = np.array([listed.get(word, 0.0) for word in names])
        sums[language] = np.bincount(row_of, weights=zipf[codes], minlength=len(items))
    own = sums.pop(items.language)
    others = np.max(list(sums.values()), axis=0) if sums else np.full(len(items), -np.inf)
    return (n >= LEAST_WORDS) & (others - own >= MARGIN * np.maximum(n, 1))


@cache
def _zipf(language: str) -> dict[str, float]:
    """How frequent each word of a language's list is, as a decimal logarithm."""
    from wordfreq import get_frequency_dict

    return {word: 9 + float(np.log10(share)) for word, share in get_frequency_dict(language, "small").items()}
