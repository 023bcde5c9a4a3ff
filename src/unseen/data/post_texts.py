"""Posts of social media written alike: handles, links, repost marks and emoji, which platforms write differently."""

from __future__ import annotations

import re
import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

from unseen.types import Dataset

HANDLE, LINK = "@USER", "HTTP-URL"
PATTERNS = (
    (r"(?i)\b(?:https?://|www\.)\S+", LINK),
    (r"(^|[^\w@.])@\w+", rf"\1{HANDLE}"),
    (rf"^\s*RT\s+{HANDLE}:?\s*", ""),
)
EMOJI = re.compile("[\U0001f1e6-\U0001faff\u2600-\u27bf\u2b50\u2b55][\U0001f3fb-\U0001f3ff\ufe0f\u200d]*")


def plain_posts(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Every handle as `@USER`, every link as `HTTP-URL`, emoji by their Unicode names, without the repost mark.

    These are the steps of Naseem et al. (2022), for all models alike.

    >>> plain_posts(pa.chunked_array([["RT @ann: see https://a.b/c 😀!", "ann@home.org"]])).to_pylist()
    ['see HTTP-URL :grinning face: !', 'ann@home.org']
    """
    plain = texts.cast(pa.large_string())
    for pattern, stand_in in PATTERNS:
        plain = pc.replace_substring_regex(plain, pattern, stand_in)
    with_emoji = pc.match_substring_regex(plain, r"[\x{1F1E6}-\x{1FAFF}\x{2600}-\x{27BF}\x{2B50}\x{2B55}]")
    if not pc.any(with_emoji).as_py():
        return plain
    return pa.chunked_array([pa.array([EMOJI.sub(_named, text) for text in plain.to_pylist()], pa.large_string())])


def with_plain_posts(data: Dataset) -> Dataset:
    """The same rows with their texts as `plain_posts` writes them."""
    return data.with_column("text", plain_posts(data.texts))


def _named(match: re.Match[str]) -> str:
    return f":{unicodedata.name(match[0][0], 'emoji').lower()}: "
