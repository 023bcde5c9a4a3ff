"""A README of the Hugging Face hub: a YAML header and a tree of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unseen.cards.document import Document, Item, as_value, document, item_of, platform_items
from unseen.cards.missing import said
from unseen.errors import InputError
from unseen.store.plain_yaml import plain_yaml

PLATFORM = "Hugging Face"
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
LINE = re.compile(r"\s*[-*]\s+\*\*(.+?):?\*\*:?\s*(.*)$")
TITLE = re.compile(r"dataset card for\s+", re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """A heading with what stands below it, up to the next heading."""

    level: int
    title: str
    body: str
    above: tuple[str, ...]
    """Titles of the headings it stands under, the highest first."""


def read_hugging_face(text: str, source: str, name: str) -> Document:
    """The card that a README amounts to, and its items with the section they stand in."""
    header, body = _header(text, source)
    found = list(headings(body))
    lines = dict(_lines(found))
    values = _lines_values(lines) | _header_values(header)
    if "title" not in values and found and found[0].level == 1 and "[" not in found[0].title:
        values["title"] = TITLE.sub("", found[0].title)
    return document(PLATFORM, name, source, _items(found), values)


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown text, in order; lines of code are none."""
    above: list[tuple[int, str]] = []
    body: list[str] = []
    fence = ""
    for line in [*text.splitlines(), None]:
        start = FENCE.match(line) if line is not None else None
        if start and (not fence or start[1].startswith(fence)):
            fence = "" if fence else start[1]
        found = HEADING.match(line) if line is not None and not fence else None
        if found is None and line is not None:
            body.append(line)
            continue
        if above:
            yield Heading(*above[-1], "\n".join(body).strip(), tuple(title for _, title in above[:-1]))
        if found is not None:
            level = len(found[1])
            above = [*(each for each in above if each[0] < level), (level, found[2].strip().rstrip("#").rstrip())]
        body = []


def folded(title: str) -> str:
    """A heading as it is looked up: without case, marks, emoji and `[optional]`."""
    plain = re.sub(r"\[optional\]|[*_`?:]", "", title.casefold())
    return " ".join(re.sub(r"[^\w\s,()-]", "", plain).split())


def _items(found: Sequence[Heading]) -> Iterator[Item]:
    known = platform_items("hugging_face")
    for each in found:
        above = [folded(title) for title in each.above]
        within = next((title for title in reversed(above) if title in known), None)
        item = item_of("hugging_face", folded(each.title), each.body, above, within)
        if item is not None:
            yield item


def _header(text: str, source: str) -> tuple[dict[str, Any], str]:
    text = text.removeprefix("\ufeff").lstrip("\n")
    if not text.startswith("---"):
        return {}, text
    parts = re.split(r"^---[ \t]*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) < 3:
        raise InputError(f"the header of {source} does not end", expected="a second line of ---")
    return (plain_yaml(parts[1], f"the header of {source}") if parts[1].strip() else {}), parts[2]


def _header_values(header: Mapping[str, Any]) -> dict[str, Any]:
    """What the header says, in the form of our fields."""
    values: dict[str, Any] = {}
    for name, about in platform_items("hugging_face_header").items():
        if name in header and (told := _told(header[name])):
            values[about["field"]] = told if about["field"] in ("language", "keywords") else ", ".join(told)
    return values | _described(header.get("dataset_info"))


def _told(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [value]
    return [each.strip() for each in listed if isinstance(each, str) and said(each)]


def _described(info: Any) -> dict[str, Any]:
    """Counts that the hub writes into the header; of several configurations none is taken."""
    if not isinstance(info, dict):
        return {}
    values: dict[str, Any] = {}
    parts = [each for each in info.get("splits") or [] if isinstance(each, dict)]
    counts = {str(each.get("name")): str(each.get("num_examples")) for each in parts}
    if counts and all(each.isdigit() for each in counts.values()):
        values["splits"] = {name: int(each) for name, each in counts.items()}
        values["n_items"] = sum(values["splits"].values())
    features = [each for each in info.get("features") or [] if isinstance(each, dict) and each.get("name")]
    if features:
        values["columns"] = [str(each["name"]) for each in features]
    for each in features:
        names = (
            each.get("dtype", {}).get("class_label", {}).get("names") if isinstance(each.get("dtype"), dict) else None
        )
        if isinstance(names, dict) and names:
            values |= {"label_names": [str(label) for label in names.values()], "n_classes": len(names)}
    return values


def _lines(found: Sequence[Heading]) -> Iterator[tuple[str, str]]:
    known = platform_items("hugging_face_lines")
    for each in found:
        for line in each.body.splitlines():
            told = LINE.match(line)
            title = folded(told[1]) if told else ""
            if told and title in known and said(told[2]):
                yield known[title]["field"], told[2]


def _lines_values(lines: Mapping[str, str]) -> dict[str, Any]:
    values = {field: as_value(field, text) for field, text in lines.items()}
    return {field: value for field, value in values.items() if value is not None}
