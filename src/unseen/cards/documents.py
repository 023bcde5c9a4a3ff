"""What a document about a dataset shows: its items, where each stands, and the card that they amount to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from unseen.cards.card import Card, Entry
from unseen.cards.fields import FOLDER, fields, value_problems
from unseen.cards.prose import LINK, NOT_CONFIRMED, own_words, sorted_statements, why_missing

ADDRESS = re.compile(r"https?://[^\s)>\]]+")
COUNTED = ("number", "counts", "numbers")
WRAPPED = ("personal", "population", "annotators", "privacy")
"""Kinds that take a text of its own beside their parts."""
Texts = dict[str, list[str]]


@dataclass(frozen=True)
class PlatformItem:
    """One thing that a platform shows about a dataset."""

    title: str
    group: str
    above: tuple[str, ...] = ()
    """Headings under which it stands, the highest first."""
    field: str | None = None
    sort: str | None = None
    body: str | None = None
    within: str | None = None
    """Title of the item it is a part of; a part is not counted again."""


@dataclass(frozen=True)
class Document:
    """A page about a dataset, as a platform shows it."""

    platform: str
    card: Card
    items: tuple[PlatformItem, ...]
    missing: Mapping[str, str]
    """Why items of the page say nothing: empty, placeholder, template, or repeated."""


@cache
def platform_items(platform: str) -> dict[str, dict[str, Any]]:
    """What each item of a platform is, from platform_items.toml."""
    content = tomllib.loads((FOLDER / "platform_items.toml").read_text(encoding="utf-8"))
    return dict(content[platform])


def item_of(
    platform: str, title: str, body: str | None, above: Sequence[str] = (), within: str | None = None
) -> PlatformItem | None:
    """The item of a platform with this title; None when the platform has none such."""
    about = platform_items(platform).get(title)
    if about is None:
        return None
    part_of = None if "whole" in about else within
    return PlatformItem(title, about["group"], tuple(above), about.get("field"), about.get("sort"), body, part_of)


def document_of(
    platform: str, name: str, source: str, items: Iterable[PlatformItem | None], values: Mapping[str, Any]
) -> Document:
    """The card that `items` amount to; `values` are answers in their final form, which come before what items say."""
    shown = tuple(item for item in items if item is not None)
    telling, missing = _telling_items(shown)
    texts, proposed, unplaced = _texts_by_field(telling)
    entries = {}
    for field, parts in texts.items():
        value = as_value(field, "\n\n".join(parts))
        if value is None:
            unplaced[field] = parts
        else:
            entries[field] = _declared(value, source)
    for field, sentences in proposed.items():
        before = f"{entries[field].value}\n\n" if field in entries else ""
        entries[field] = _declared(before + " ".join(sentences), source, NOT_CONFIRMED)
    for field, value in values.items():
        if not value_problems(fields()[field].kind, value):
            entries[field] = _declared(value, source)
            # what the text says stays beside a value that comes before it, unless the value was read from that text
            if fields()[field].kind in COUNTED:
                unplaced.pop(field, None)
            elif field in texts and as_value(field, "\n\n".join(texts[field])) != value:
                unplaced[field] = texts[field]
        elif value:
            unplaced.setdefault(field, []).append(str(value))
    card = Card(name, entries, {title: " ".join(parts) for title, parts in unplaced.items()})
    return Document(platform, card, shown, missing)


def _telling_items(items: Sequence[PlatformItem]) -> tuple[dict[str, PlatformItem], dict[str, str]]:
    """Items that say something, and why the others do not; what another item says already says nothing here."""
    telling: dict[str, PlatformItem] = {}
    missing: dict[str, str] = {}
    first_title: dict[str, str] = {}
    for item in items:
        why = why_missing(item.body)
        if why is None:
            words = " ".join(own_words(item.body or "").casefold().split())
            title = first_title.setdefault(words, item.title)
            why = None if title == item.title else f"repeats {title}"
        if why is None:
            telling[item.title] = item
        elif item.title not in telling:
            missing[item.title] = why
    return telling, missing


def _texts_by_field(items: Mapping[str, PlatformItem]) -> tuple[Texts, Texts, Texts]:
    """What items say by field, sentences by the field that cues propose, and what has no field."""
    texts, proposed, unplaced = Texts(), Texts(), Texts()
    for title, item in items.items():
        words = own_words(item.body or "")
        if item.sort is not None:
            for field, sentences in sorted_statements(words, item.sort).items():
                (proposed.setdefault(field, []) if field else unplaced.setdefault(title, [])).extend(sentences)
        elif item.field is not None:
            texts.setdefault(item.field, []).append(words)
        else:
            unplaced[title] = [words]
    return texts, proposed, unplaced


def as_value(field: str, text: str) -> Any | None:
    """A text as the value of a field; None where the field needs more than words."""
    kind, plain = fields()[field].kind, LINK.sub(r"\1", text).strip()
    value: Any = plain
    if field in ("homepage", "source_code"):
        address = ADDRESS.search(text)
        value = address.group() if address else plain
    elif kind in ("names", "languages"):
        parts = re.split(r"[,;\n]+" if kind == "languages" else r"\n+", plain)
        value = [name for part in parts if (name := part.strip(" -*`"))]
    elif kind in WRAPPED:
        value = {"text": plain}
    return None if value_problems(kind, value) else value


def _declared(value: Any, source: str, method: str = "") -> Entry:
    return Entry(value, "declared", "contributor", source=source, method=method)
