"""What a document about a dataset shows: its items, where each stands, and the card that they amount to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from unseen.cards.card import Card, Entry
from unseen.cards.fields import FOLDER, fields
from unseen.cards.kinds import problems_of
from unseen.cards.missing import LINK, said, why_missing
from unseen.cards.statements import NOT_CONFIRMED, sorted_statements

ADDRESS = re.compile(r"https?://[^\s)>\]]+")
COUNTED = ("number", "counts", "numbers")
Texts = dict[str, list[str]]
WRAPPED = ("personal", "population", "annotators", "privacy")
"""Kinds that take a text of its own beside their parts."""


@dataclass(frozen=True)
class Item:
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
    items: tuple[Item, ...]
    missing: Mapping[str, str]
    """Why items of the page say nothing: empty, placeholder, template, or repeated."""


@cache
def platform_items(platform: str) -> dict[str, dict[str, Any]]:
    """What each item of a platform is, from platform_items.toml."""
    content = tomllib.loads((FOLDER / "platform_items.toml").read_text(encoding="utf-8"))
    return dict(content[platform])


def item_of(
    platform: str, title: str, body: str | None, above: Sequence[str] = (), within: str | None = None
) -> Item | None:
    """The item of a platform with this title; None when the platform has none such."""
    about = platform_items(platform).get(title)
    if about is None:
        return None
    return Item(
        title,
        about["group"],
        tuple(above),
        about.get("field"),
        about.get("sort"),
        body,
        None if "whole" in about else within,
    )


def document(
    platform: str, name: str, source: str, items: Iterable[Item], values: Mapping[str, Any] | None = None
) -> Document:
    """The card that `items` amount to; `values` are answers in their final form, which come before what items say."""
    items = tuple(items)
    told, missing = _bodies(items)
    texts, proposed, unplaced = _sorted(told)
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
    for field, value in (values or {}).items():
        if not problems_of(fields()[field].kind, value):
            entries[field] = _declared(value, source)
            _settle(field, value, texts, unplaced)
        elif value:
            unplaced.setdefault(field, []).append(str(value))
    card = Card(name, entries, {title: " ".join(parts) for title, parts in unplaced.items()})
    return Document(platform, card, items, missing)


def _settle(field: str, value: Any, texts: Texts, unplaced: Texts) -> None:
    """Keep what the text says beside a value that comes before it, unless the value was read from that text."""
    if fields()[field].kind in COUNTED:
        unplaced.pop(field, None)
    elif field in texts and as_value(field, "\n\n".join(texts[field])) != value:
        unplaced[field] = texts[field]


def _sorted(told: Mapping[str, Item]) -> tuple[Texts, Texts, Texts]:
    """What items say by field, sentences by the field that cues propose, and what has no field."""
    texts, proposed, unplaced = Texts(), Texts(), Texts()
    for title, item in told.items():
        words = said(item.body or "")
        if item.sort is not None:
            for kind, sentences in sorted_statements(words, item.sort).items():
                (proposed.setdefault(kind, []) if kind else unplaced.setdefault(title, [])).extend(sentences)
        elif item.field is not None:
            texts.setdefault(item.field, []).append(words)
        else:
            unplaced[title] = [words]
    return texts, proposed, unplaced


def _bodies(items: tuple[Item, ...]) -> tuple[dict[str, Item], dict[str, str]]:
    """Items that say something, and why the others do not; what another item says already says nothing here."""
    told: dict[str, Item] = {}
    missing: dict[str, str] = {}
    seen: dict[str, str] = {}
    for item in items:
        why = why_missing(item.body)
        same = seen.setdefault(" ".join(said(item.body or "").casefold().split()), item.title) if why is None else ""
        if why is None and same != item.title:
            why = f"repeats {same}"
        if why is None:
            told[item.title] = item
        elif item.title not in told:
            missing[item.title] = why
    return told, missing


def as_value(field: str, text: str) -> Any | None:
    """A text as the value of a field; None where the field needs more than words."""
    kind, plain = fields()[field].kind, LINK.sub(_link_text, text).strip()
    value: Any = plain
    if field in ("homepage", "source_code"):
        address = ADDRESS.search(text)
        value = address.group() if address else plain
    elif kind in ("names", "languages"):
        listed = re.split(r"[,;\n]+" if kind == "languages" else r"\n+", plain)
        value = [each.strip(" -*`") for each in listed if each.strip(" -*`")]
    elif kind in WRAPPED:
        value = {"text": plain}
    return None if problems_of(kind, value) else value


def _link_text(found: re.Match[str]) -> str:
    return str(found[1])


def _declared(value: Any, source: str, method: str = "") -> Entry:
    return Entry(value, "declared", "contributor", source=source, method=method)
