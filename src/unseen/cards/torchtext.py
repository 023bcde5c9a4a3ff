"""The docstring of a dataset of torchtext."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from unseen.cards.document import Document, Item, document, item_of

PLATFORM = "PyTorch (torchtext)"
PART = re.compile(
    r"(number of lines per split|number of classes|args|arguments|parameters|examples?)\s*(?::\s*(.*))?$", re.IGNORECASE
)
TITLES = {
    "number of lines per split": "lines per split",
    "args": "parameters",
    "arguments": "parameters",
    "example": "example code",
    "examples": "example code",
}
COUNT = re.compile(r"[-*]?\s*(\w+)\s*:\s*([\d,_]+)\s*$")


def read_torchtext(text: str, source: str, name: str) -> Document:
    """The card that a docstring amounts to."""
    items = list(_items(textwrap.dedent(text.strip().strip('"'))))
    values: dict[str, Any] = {}
    for item in items:
        body = item.body or ""
        if item.field == "splits":
            counts = [found for line in body.splitlines() if (found := COUNT.match(line.strip()))]
            values["splits"] = {each[1]: int(re.sub(r"[,_]", "", each[2])) for each in counts}
            values["n_items"] = sum(values["splits"].values())
        if item.field == "n_classes" and (number := re.search(r"\d+", body)):
            values["n_classes"] = int(number.group())
    first = next((line.strip() for line in text.strip().strip('"').splitlines() if line.strip()), "")
    return document(PLATFORM, name, source, items, values | ({"title": first} if first else {}))


def _items(text: str) -> Iterator[Item]:
    title, body = "", list[str]()
    for line in [*text.splitlines(), "parameters:"]:
        found = PART.match(line.strip())
        if found is None:
            body.append(line)
            continue
        item = item_of("torchtext", title, "\n".join(body).strip())
        if item is not None:
            yield item
        title = TITLES.get(found[1].casefold(), found[1].casefold())
        body = [found[2] or ""]
