"""A page of the catalogue of TensorFlow Datasets: bullets with a bold title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from unseen.cards.document import Document, Item, document, item_of

PLATFORM = "TensorFlow Datasets"
BULLET = re.compile(
    r"^[-*]\s+\*\*(.+?)\*\*\s{0,8}(?:\((?:[^()]|\([^()]{0,300}\)){0,300}\))?\s{0,8}:[ \t]*", re.MULTILINE
)
SPLIT = re.compile(r"^[ |`'\"]{0,4}([\w\[\]:%-]{1,80})[ `'\"]{0,40}\|[ ]{0,40}([\d,]{1,20})[ |]{0,40}$", re.MULTILINE)
VERSION = re.compile(r"`([^`]+)`[*\s]*\(default\)")
NAME = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)


def read_tfds(text: str, source: str, name: str) -> Document:
    """The card that a catalogue page amounts to."""
    items = list(_items(text))
    values: dict[str, Any] = {}
    for item in items:
        body = item.body or ""
        if item.field == "splits" and (counts := SPLIT.findall(body)):
            values["splits"] = {part: int(count.replace(",", "")) for part, count in counts}
            values["n_items"] = sum(values["splits"].values())
        if item.field == "version" and (found := VERSION.search(body)):
            values["version"] = found[1]
    if title := NAME.search(text):
        values["title"] = title[1].strip("` ")
    return document(PLATFORM, name, source, items, values)


def _items(text: str) -> Iterator[Item]:
    found = list(BULLET.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    for each, end in zip(found, ends, strict=True):
        item = item_of("tfds", each[1].strip().casefold(), text[each.end() : end].strip())
        if item is not None:
            yield item
