"""The characters of a text as a reader sees them."""

from __future__ import annotations

import unicodedata

JOINER = "\u200d"


def characters(text: str) -> list[str]:
    """The text cut between user-perceived characters, as far as the standard library tells.

    Combining marks, variation selectors, skin tones, joined emoji, flags and the vowels and finals of decomposed
    Hangul stay with what they belong to; the full rules of Unicode's annex 29 know more scripts.

    >>> characters("e\u0301a") == ["e\u0301", "a"]
    True
    """
    if text.isascii():
        return list(text)
    found: list[str] = []
    for each in text:
        if found and _belongs(found[-1], each):
            found[-1] += each
        else:
            found.append(each)
    return found


def _belongs(before: str, each: str) -> bool:
    if each.isascii():
        return False
    if unicodedata.category(each) in ("Mn", "Me", "Mc") or each == JOINER:
        return True
    if before[-1] == JOINER:
        return not each.isalpha()
    is_tone = "\U0001f3fb" <= each <= "\U0001f3ff"
    is_tag = "\U000e0020" <= each <= "\U000e007f"
    is_inner_jamo = "\u1160" <= each <= "\u11ff"
    is_half_flag = _is_flag(each) and len(before) == 1 and _is_flag(before)
    return is_tone or is_tag or is_inner_jamo or is_half_flag


def _is_flag(each: str) -> bool:
    return "\U0001f1e6" <= each <= "\U0001f1ff"
