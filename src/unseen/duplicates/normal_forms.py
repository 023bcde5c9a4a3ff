"""Texts without what changes nothing about what they say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.types.arrays import Rows

EMOJI = r"\p{So}\x{1F3FB}-\x{1F3FF}"
"""Pictures and the tones of their skin."""
SYMBOLS = rf"\p{{Sc}}\p{{Sm}}{EMOJI}"
"""Also currencies and signs of arithmetic."""
JOINS = r"\x{200D}\x{E0020}-\x{E007F}"
"""What makes one emoji of several, or a flag; between letters the first shapes them."""
TRIFLES = (
    rf"@[^\s{EMOJI}]+",  # handles
    rf"https?://[^\s{EMOJI}]+|www\.[^\s{EMOJI}]+",
    r"<\w+>",  # placeholders such as <user>
    r"[|~=]",  # symbols by name, punctuation in use
    rf"[^ \p{{L}}\p{{M}}\p{{N}}{SYMBOLS}{JOINS}]+",  # a space is one already
)


def normal_forms(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lower case, without handles, links, placeholders in angle brackets, the repost mark `rt` and punctuation.

    Letters, marks and digits of all scripts, symbols and emoji stay; whether an emoji is drawn in colour does not.
    Words and runs of symbols are separated by single spaces. A text of nothing else has the empty form.

    >>> normal_forms(pa.chunked_array([["RT @ann: So   it GOES!! http://a.b/c", "So it goes😀"]])).to_pylist()
    ['so it goes', 'so it goes 😀']
    """
    forms = pc.utf8_lower(texts.cast(pa.large_string()))
    forms = pc.replace_substring_regex(forms, r"[\x{FE0E}\x{FE0F}]", "")
    for pattern in TRIFLES:
        forms = pc.replace_substring_regex(forms, pattern, " ")
    forms = pc.replace_substring_regex(forms, rf"([{SYMBOLS}][{SYMBOLS}{JOINS}]*)", r" \1 ")
    forms = pc.replace_substring_regex(forms, r"\brt\b", " ")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(forms, "  +", " "))


def same(texts: pa.ChunkedArray) -> Rows:
    """A number per row, the same for equal texts: the position of the first row with that text."""
    codes = texts.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    return first[codes].astype(np.intp)


def same_forms(texts: pa.ChunkedArray, forms: pa.ChunkedArray | None = None) -> Rows:
    """As `same`, of the normal forms; texts whose form is empty are like those with the very same text."""
    forms = normal_forms(texts) if forms is None else forms
    empty = pc.equal(forms, "").to_numpy()
    return np.where(empty, same(texts), same(forms))
