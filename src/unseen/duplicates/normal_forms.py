"""Texts without what changes nothing about what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

TRIFLES = (
    r"@\S+",  # handles
    r"https?://\S+|www\.\S+",
    r"<\w+>",  # placeholders such as <user>
    r"[^\p{L}\p{M}\p{N}]+",
)


def normal_forms(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lower case, without handles, links, placeholders in angle brackets, the repost mark `rt` and punctuation.

    Words are separated by single spaces. A text of nothing else has the empty form, as do texts of emoji alone.

    >>> normal_forms(pa.chunked_array([["RT @ann: So   it GOES!! http://a.b/c", "so it goes"]])).to_pylist()
    ['so it goes', 'so it goes']
    """
    found = pc.utf8_lower(texts.cast(pa.large_string()))
    for pattern in TRIFLES:
        found = pc.replace_substring_regex(found, pattern, " ")
    found = pc.replace_substring_regex(found, r"\brt\b", " ")
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(found, " +", " "))


def same(texts: pa.ChunkedArray) -> npt.NDArray[np.intp]:
    """A number per row, the same for equal texts: the position of the first row with that text."""
    codes = texts.combine_chunks().dictionary_encode().indices.to_numpy(zero_copy_only=False)
    _, first = np.unique(codes, return_index=True)
    return first[codes].astype(np.intp)


def same_forms(texts: pa.ChunkedArray) -> npt.NDArray[np.intp]:
    """As `same`, of the normal forms; texts whose form is empty are like those with the very same text."""
    forms = normal_forms(texts)
    empty = pc.equal(forms, "").to_numpy()
    return np.where(empty, same(texts), same(forms))
