"""A record of Papers with Code: a JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from unseen.cards.document import Document, Item, as_value, document, item_of

PLATFORM = "Papers with Code"
KEYS = {
    "description": "description",
    "homepage": "homepage or paper",
    "paper": "homepage or paper",
    "num_papers": "usage",
    "usage": "usage",
    "leaderboards": "leaderboard",
    "license": "license",
    "papers": "list of papers",
    "tasks": "tasks",
    "modalities": "modalities",
    "languages": "languages",
    "variants": "variants",
}
"""Item that each key of a record belongs to."""


def read_papers_with_code(content: Mapping[str, Any], source: str, name: str) -> Document:
    """The card that a record amounts to."""
    title = content.get("full_name") or content.get("name")
    values = {"title": title} if isinstance(title, str) and title.strip() else {}
    if isinstance(content.get("paper"), Mapping) and (cited := _text(content["paper"])):
        values["citation"] = cited
    address = as_value("homepage", _text(content.get("homepage"))) if content.get("homepage") else None
    return document(PLATFORM, name, source, _items(content), values | ({"homepage": address} if address else {}))


def is_record(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object looks like such a record."""
    return "name" in content and len(KEYS.keys() & content.keys()) >= 2


def _items(content: Mapping[str, Any]) -> Iterator[Item]:
    bodies: dict[str, str] = {}
    for key, title in KEYS.items():
        if key in content:
            bodies[title] = "\n".join(filter(None, [bodies.get(title, ""), _text(content[key])]))
    for title, body in bodies.items():
        item = item_of("papers_with_code", title, body)
        if item is not None:
            yield item


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(_text(each) for each in value.values() if each)
    if isinstance(value, list):
        return "\n".join(_text(each) for each in value)
    return value if isinstance(value, str) else json.dumps(value)
