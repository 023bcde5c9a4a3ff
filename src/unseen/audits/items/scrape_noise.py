"""What scraping leaves behind: markup, cut-off endings, dates, other languages, mis-read bytes, bare links.

After section 3 of Keleg et al. (2022), without a part-of-speech tagger: `ends_open` knows a closed list of English
words, and tags are those of HTML, so that a placeholder such as <user> is none.

Another language than the dataset's has two witnesses. The letters: most are of a script that the language is not
written in. The words: those of another language of the same script are clearly more frequent than the language's own,
by wordfreq's lists. Short texts prove nothing, so the rule abstains on them; so it does where a text mixes languages
about evenly.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.rule import HANDLE, LINK, LOST, Items, Rule, as_mask, counts, matches, repaired
from unseen.registry import require_known
from unseen.types.arrays import Mask

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
PACK = "scrape-noise"
FEW_WORDS = 3
TAGS = (
    "a|abbr|article|aside|audio|b|big|blockquote|body|br|button|center|cite|code|dd|del|div|dl|dt|em|embed|"
    "figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link|main|"
    "meta|nav|object|ol|option|p|param|pre|q|s|samp|script|section|select|small|span|strike|strong|style|sub|sup|"
    "svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|video"
)
HTML = rf"""(?i:</?(?:{TAGS})(?:\s[^<>]*)?/?>)|[a-z]+=\""""
OPEN_WORDS = (
    "a|an|the|every|my|your|his|its|our|their|and|or|nor|but|because|although|if|unless|until|whereas|whether|than|as"
)
OPEN_ENDING = rf",$|(?:^|\s)(?:{OPEN_WORDS})$"
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
DAY_NAME = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
DAY, NUMBER, YEAR = r"(?:[12]\d|3[01]|0?[1-9])", r"(?:1[0-2]|0?[1-9])", r"(?:\d{4}|'?\d{2})"
TIME = r"(?:,?\s+(?:at\s+)?|t)\d{1,2}:\d{2}(?::\d{2})?\s*(?:[ap]\.?m\.?|z)?"
DATES = (
    rf"\d{{4}}[-/.]{NUMBER}[-/.]{DAY}",
    rf"{DAY}[-/.]{NUMBER}[-/.]{YEAR}|{NUMBER}[-/.]{DAY}[-/.]{YEAR}",
    rf"{DAY}(?:st|nd|rd|th)?(?:\s+of)?\s+{MONTH}(?:,?\s+{YEAR})?",
    rf"{MONTH}\s+{DAY}(?:st|nd|rd|th)?(?:,?\s+{YEAR})?|{MONTH},?\s+\d{{4}}",
)
DATE = rf"^{DAY_NAME}(?:{'|'.join(DATES)})(?:{TIME})?\.?$"


def check_language(language: str) -> None:
    """Refuse a language nothing is known about."""
    require_known("language", LANGUAGES, language)


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


def html(items: Items) -> Mask:
    """A tag of HTML, or an attribute with its value."""
    return matches(items.texts, HTML)


def ends_open(items: Items) -> Mask:
    """The last word, of a closed English list, or a comma promises more."""
    return matches(items.lower, OPEN_ENDING)


def is_date(items: Items) -> Mask:
    """The whole text is a date, in figures or with an English month."""
    return matches(items.lower, DATE)


def too_short(items: Items) -> Mask:
    """One to three words; a text without any is for other rules."""
    return (items.words >= 1) & (items.words <= FEW_WORDS)


def misdecoded(items: Items) -> Mask:
    """UTF-8 that was read as Latin-1 or Windows-1252, or characters that were lost in reading."""
    texts = items.data.texts.cast(pa.large_string())
    return as_mask(pc.not_equal(texts, repaired(texts))) | matches(texts, LOST)


def links_only(items: Items) -> Mask:
    """Links, perhaps handles, and no word."""
    return (items.words == 0) & matches(items.texts, LINK)


def handles_only(items: Items) -> Mask:
    """Handles and no word; with a link it is `links_only`."""
    return (items.words == 0) & matches(items.texts, HANDLE) & ~matches(items.texts, LINK)


WRONG_LANGUAGE = Rule("wrong_language", PACK, "another language", wrong_language, ("language",))
MISDECODED = Rule("misdecoded", PACK, "bytes read in the wrong encoding", misdecoded)
LINKS_ONLY = Rule("links_only", PACK, "nothing but links", links_only)
HANDLES_ONLY = Rule("handles_only", PACK, "nothing but handles", handles_only)
RULES = (
    Rule("html", PACK, "markup", html),
    Rule("ends_open", PACK, "cut off", ends_open, ("english",)),
    Rule("is_date", PACK, "only a date", is_date, ("english",)),
    Rule("too_short", PACK, "too short to say something", too_short),
    WRONG_LANGUAGE,
    MISDECODED,
    LINKS_ONLY,
    HANDLES_ONLY,
)
