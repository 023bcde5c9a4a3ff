"""In which writing systems the letters of the texts are: a measure of script, not of language.

English, Dutch and Turkish share a script, so the shares cannot confirm a language; they can contradict one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np

from unseen.types import Dataset

CODES = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr", "DEVANAGARI": "Deva",
    "BENGALI": "Beng", "TAMIL": "Taml", "TELUGU": "Telu", "GUJARATI": "Gujr", "GURMUKHI": "Guru", "KANNADA": "Knda",
    "MALAYALAM": "Mlym", "SINHALA": "Sinh", "THAI": "Thai", "LAO": "Laoo", "MYANMAR": "Mymr", "KHMER": "Khmr",
    "TIBETAN": "Tibt", "GEORGIAN": "Geor", "ARMENIAN": "Armn", "ETHIOPIC": "Ethi", "HANGUL": "Hang", "HIRAGANA": "Hira",
    "KATAKANA": "Kana", "CJK": "Hani", "ORIYA": "Orya",
}  # fmt: skip
"""ISO 15924 codes by the first word of a letter's Unicode name."""
WRITTEN_WITH = {"Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang", "Hani"), "Hans": ("Hani",), "Hant": ("Hani",)}
"""Scripts that are several of ours."""


def script_shares(data: Dataset) -> dict[str, float]:
    """The share of letters in each script, the largest first; empty when there is no letter."""
    counts = np.zeros(0x110000, dtype=np.int64)
    for (texts,) in data.batches("text"):
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        counts += np.bincount(codes, minlength=len(counts))
    shares: dict[str, int] = {}
    for code in np.flatnonzero(counts).tolist():
        if unicodedata.category(chr(code))[0] == "L":
            first = unicodedata.name(chr(code), "OTHER").split()[0]
            name = CODES.get("LATIN" if first in ("FULLWIDTH", "MODIFIER", "FEMININE", "MASCULINE") else first, "Zyyy")
            shares[name] = shares.get(name, 0) + int(counts[code])
    total = sum(shares.values())
    return {name: shares[name] / total for name in sorted(shares, key=lambda each: (-shares[each], each))}


def scripts_of(languages: Iterable[str]) -> set[str]:
    """The scripts that these languages are commonly written in."""
    from langcodes import Language

    found: set[str] = set()
    for tag in languages:
        script = Language.get(tag).maximize().script
        found.update(WRITTEN_WITH.get(script, (script,)) if script else ())
    return found
