"""What a document about a dataset shows: its items, where each stands, and the card that they amount to.

What the sections of a document say: nothing, the template as it came, or statements, sorted by a list of cues.

A section says nothing when it is empty, a placeholder, or prose of the Hugging Face templates, which is known by the
hashes of its sentences, in template_sentences.txt.

Statements about limits mix what is technical (size, noise) with what is contextual (whose language, where, when);
those about impact mix what helps, what enables work, and what hurts (Park and Jeoung 2022). A sentence goes to the
kind with the most cues; one without cues, or with as many for two kinds, is left to a person. Sorting is a proposal
that a person confirms.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from unseen.cards.card import FOLDER, Card, Entry, fields, value_problems
from unseen.registry import require_known

NOT_CONFIRMED = "sorted by a list of cues; not confirmed by a person"
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")
PLACEHOLDERS = re.compile(
    r"\[?\s*(?:more information needed|needs more information|information needed|optional|n/?a|tbd|to be (?:added|done|"
    r"determined)|to do|todo|none given|unknown|not (?:specified|available|provided|known)|\?+|-+|\.\.\.|…)\s*\]?\.?",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n+")
WORD = re.compile(r"[^\W_]+")
COMMONEST = (
    "a an and are as at be by for from has have in is it its of on or that the their there these they this to was were "
    "which will with we our not but been can may more such than then also into about all any some no yes"
)
STOP = frozenset(COMMONEST.split())
SUBSTANTIAL = 5
"""Content words from which on an answer in words is more than a token one."""
ADDRESS = re.compile(r"https?://[^\s)>\]]+")
COUNTED = ("number", "counts", "numbers")
WRAPPED = ("personal", "population", "annotators", "privacy")
"""Kinds that take a text of its own beside their parts."""
Texts = dict[str, list[str]]


def own_words(body: str) -> str:
    """What a section says itself: without comments, placeholders and sentences of the template; may be empty."""
    text = COMMENT.sub("", body).strip()
    sentences = SENTENCE_END.split(text)
    telling = [sentence.strip() for sentence in sentences if not _says_nothing(sentence)]
    if telling and not any(map(_is_template, sentences)):
        return text
    return " ".join(telling)


def why_missing(body: str | None) -> str | None:
    """Why this section counts as unknown: absent, empty, placeholder or template; None when it says something."""
    if body is None:
        return "absent"
    if own_words(body):
        return None
    text = COMMENT.sub("", body)
    if not WORD.search(text):
        return "empty"
    return "template" if any(map(_is_template, SENTENCE_END.split(text))) else "placeholder"


def content_words(text: str) -> int:
    """How many different words other than the commonest function words stand in `text`."""
    return len({word for word in WORD.findall(text.casefold()) if word not in STOP})


def is_substantial(text: str) -> bool:
    """Whether an answer in words is more than a token one."""
    return content_words(own_words(text)) >= SUBSTANTIAL


def kind_of_statement(sentence: str, family: str) -> str | None:
    """The field that a sentence about `limitations` or `impact` belongs to; None where only a person can tell."""
    counts = {field: len({cue.casefold() for cue in cues.findall(sentence)}) for field, cues in _cues(family).items()}
    most = max(counts.values())
    leading = [field for field, count in counts.items() if count == most]
    return leading[0] if most and len(leading) == 1 else None


def sorted_statements(text: str, family: str) -> dict[str | None, list[str]]:
    """The sentences of `text` by the field they belong to."""
    statements: dict[str | None, list[str]] = {}
    for sentence in SENTENCE_END.split(own_words(text)):
        if WORD.search(sentence):
            statements.setdefault(kind_of_statement(sentence, family), []).append(sentence.strip())
    return statements


def sentence_hash(sentence: str) -> str:
    """A short hash of the words of a sentence, whatever its case, links and marks."""
    words = " ".join(WORD.findall(LINK.sub(r"\1", sentence).casefold()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _says_nothing(sentence: str) -> bool:
    return not WORD.search(sentence) or bool(PLACEHOLDERS.fullmatch(sentence.strip())) or _is_template(sentence)


def _is_template(sentence: str) -> bool:
    return bool(WORD.search(sentence)) and sentence_hash(sentence) in _template_hashes()


@cache
def _template_hashes() -> frozenset[str]:
    lines = (FOLDER / "template_sentences.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


@cache
def _cues(family: str) -> dict[str, re.Pattern[str]]:
    content = tomllib.loads((FOLDER / "statement_cues.toml").read_text(encoding="utf-8"))
    require_known("kind of statement", content, family)
    return {field: re.compile(rf"\b(?:{'|'.join(cues)})", re.IGNORECASE) for field, cues in content[family].items()}


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
