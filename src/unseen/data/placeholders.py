"""Texts of social media with placeholders for whom they address and where they point."""

from __future__ import annotations

from dataclasses import replace

import pyarrow.compute as pc

from unseen.types import Dataset

PLACEHOLDERS = (
    (r"(^|\s)RT\s+@", r"\1@"),  # the mark of a repost
    (r"https?://\S+|www\.\S+", "HTTP-URL"),
    (r"(^|\W)@\w+", r"\1@USER"),
)


def with_placeholders(data: Dataset) -> Dataset:
    """The same rows with HTTP-URL for links, @USER for handles, and without the mark of reposts.

    As Naseem et al. (2022) prepare tweets, but for emoji, which stay as they are.
    """
    texts = data.texts
    for pattern, placeholder in PLACEHOLDERS:
        texts = pc.replace_substring_regex(texts, pattern, placeholder)
    place = data.table.column_names.index("text")
    return replace(data, table=data.table.set_column(place, "text", texts))
