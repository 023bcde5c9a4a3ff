"""Pages of platforms about datasets, as cards; which platform a page comes from is seen from its content.

- Hugging Face: a README with a YAML header and a tree of headings
- TensorFlow Datasets: a page of the catalogue, bullets with a bold title
- torchtext: the docstring of a dataset
- Papers with Code: a record, a JSON object

How many items of each group the pages of platforms show, after Park and Jeoung (2022).

An item that is a part of another (annotators within annotations) is not counted again. The pages in `platforms/` show
what the four platforms of the paper show; of Hugging Face, the sections that the paper looked at, which leave out
summary and structure. Counted is what a page has a place for, not whether anything is written there.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.cards.audit import required
from unseen.cards.card import FOLDER, GROUPS, card_of
from unseen.cards.documents import Document, PlatformItem, as_value, document_of, item_of, own_words, platform_items
from unseen.errors import InputError, complaint
from unseen.store.files import door
from unseen.store.plain_yaml import plain_yaml

OWN = "unseen"
KNOWN = (
    "a card of ours (JSON, YAML), a Hugging Face README, a TFDS page, a torchtext docstring, a Papers with Code record"
)
LARGEST = 2_000_000

HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
FENCE = re.compile(r" {0,3}(```+|~~~+)")
BOLD_LINE = re.compile(r"\s*[-*]\s+\*\*(.+?):?\*\*:?\s*(.*)$")
CARD_TITLE = re.compile(r"dataset card for\s+", re.IGNORECASE)

TFDS_BULLET = re.compile(
    r"^[-*]\s+\*\*(.+?)\*\*\s{0,8}(?:\((?:[^()]|\([^()]{0,300}\)){0,300}\))?\s{0,8}:[ \t]*", re.MULTILINE
)
TFDS_SPLIT = re.compile(
    r"^[ |`'\"]{0,4}([\w\[\]:%-]{1,80})[ `'\"]{0,40}\|[ ]{0,40}([\d,]{1,20})[ |]{0,40}$", re.MULTILINE
)
TFDS_VERSION = re.compile(r"`([^`]+)`[*\s]*\(default\)")
TFDS_NAME = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)

TORCHTEXT_LINES = re.compile(r"number of lines per split", re.IGNORECASE)
TORCHTEXT_PART = re.compile(
    r"(number of lines per split|number of classes|args|arguments|parameters|examples?)\s*(?::\s*(.*))?$", re.IGNORECASE
)
TORCHTEXT_TITLES = {
    "number of lines per split": "lines per split",
    "args": "parameters",
    "arguments": "parameters",
    "example": "example code",
    "examples": "example code",
}
TORCHTEXT_COUNT = re.compile(r"[-*]?\s*(\w+)\s*:\s*([\d,_]+)\s*$")

RECORD_KEYS = {
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
"""Item that each key of a record of Papers with Code belongs to."""
PAGES = ("hugging_face.md", "papers_with_code.json", "tfds.md", "torchtext.txt")
"""One small page of each platform of the paper, in its order."""


def read_document(path: str | Path) -> Document:
    """The document in a file; refuses what is of none of the known forms."""
    path = Path(path)
    text = _text(path)
    if path.suffix in (".yaml", ".yml"):
        with door(path, "a dataset card"):
            return own_document(plain_yaml(text, str(path), typed=True), str(path))
    if path.suffix == ".json" or text.lstrip().startswith("{"):
        return _from_json(text, path)
    source, name = path.name, path.parent.name if path.stem.casefold() == "readme" else path.stem
    name = name or path.stem
    if TORCHTEXT_LINES.search(text) and not text.lstrip().startswith("#"):
        return _read_torchtext(text, source, name)
    titles = {_folded(heading.title) for heading in headings(text)}
    if titles & platform_items("hugging_face").keys() or text.lstrip("\ufeff\n").startswith("---"):
        return _read_hugging_face(text, source, name)
    if any(bullet[1].strip().casefold() in platform_items("tfds") for bullet in TFDS_BULLET.finditer(text)):
        return _read_tfds(text, source, name)
    raise InputError(f"{path} is no card that is known here", expected=KNOWN)


def own_document(content: Mapping[str, Any], place: str) -> Document:
    """A card of ours, from the content of its file."""
    return Document(OWN, card_of(content, place), (), {})


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is too large for a card", expected=f"at most {LARGEST:,} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as cause:
        raise InputError(f"cannot read {path}: {cause.strerror}") from cause
    except UnicodeDecodeError as cause:
        raise InputError(f"{path} is not UTF-8 text") from cause


def _from_json(text: str, path: Path) -> Document:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path} is not valid JSON: {complaint(cause)}") from cause
    if not isinstance(content, Mapping):
        raise InputError(f"{path} does not hold a JSON object", got=type(content).__name__)
    is_record = "name" in content and len(RECORD_KEYS.keys() & content.keys()) >= 2
    if "unseen_card" in content or not is_record:
        return own_document(content, str(path))
    return _read_papers_with_code(content, path.name, path.stem)


@dataclass(frozen=True)
class Heading:
    """A heading with what stands below it, up to the next heading."""

    level: int
    title: str
    body: str
    above: tuple[str, ...]
    """Titles of the headings it stands under, the highest first."""


def headings(text: str) -> Iterator[Heading]:
    """The headings of a Markdown text, in order; lines of code are none."""
    above: list[tuple[int, str]] = []
    body: list[str] = []
    fence = ""
    for line in [*text.splitlines(), None]:
        start = FENCE.match(line) if line is not None else None
        if start and (not fence or start[1].startswith(fence)):
            fence = "" if fence else start[1]
        heading = HEADING.match(line) if line is not None and not fence else None
        if heading is None and line is not None:
            body.append(line)
            continue
        if above:
            yield Heading(*above[-1], "\n".join(body).strip(), tuple(title for _, title in above[:-1]))
        if heading is not None:
            level, title = len(heading[1]), heading[2].strip().rstrip("#").rstrip()
            above = [*(outer for outer in above if outer[0] < level), (level, title)]
        body = []


def _read_hugging_face(text: str, source: str, name: str) -> Document:
    header, body = _header(text, source)
    sections = list(headings(body))
    values = _line_values(sections) | _header_values(header)
    if "title" not in values and sections and sections[0].level == 1 and "[" not in sections[0].title:
        values["title"] = CARD_TITLE.sub("", sections[0].title)
    return document_of("Hugging Face", name, source, map(_section_item, sections), values)


def _section_item(section: Heading) -> PlatformItem | None:
    above = [_folded(title) for title in section.above]
    within = next((title for title in reversed(above) if title in platform_items("hugging_face")), None)
    return item_of("hugging_face", _folded(section.title), section.body, above, within)


def _folded(title: str) -> str:
    """A heading as it is looked up: without case, marks, emoji and `[optional]`."""
    plain = re.sub(r"\[optional\]|[*_`?:]", "", title.casefold())
    return " ".join(re.sub(r"[^\w\s,()-]", "", plain).split())


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
        field, value = about["field"], header.get(name)
        listed = value if isinstance(value, list) else [value]
        texts = [text.strip() for text in listed if isinstance(text, str) and own_words(text)]
        if texts:
            values[field] = texts if field in ("language", "keywords") else ", ".join(texts)
    return values | _dataset_info(header.get("dataset_info"))


def _dataset_info(info: Any) -> dict[str, Any]:
    """Counts that the hub writes into the header; of several configurations none is taken."""
    if not isinstance(info, dict):
        return {}
    values: dict[str, Any] = {}
    splits = [split for split in info.get("splits") or [] if isinstance(split, dict)]
    counts = {str(split.get("name")): str(split.get("num_examples")) for split in splits}
    if counts and all(count.isdigit() for count in counts.values()):
        values |= _split_values({name: int(count) for name, count in counts.items()})
    features = [feature for feature in info.get("features") or [] if isinstance(feature, dict) and feature.get("name")]
    if features:
        values["columns"] = [str(feature["name"]) for feature in features]
    for kind in (feature.get("dtype") for feature in features):
        names = kind.get("class_label", {}).get("names") if isinstance(kind, dict) else None
        if isinstance(names, dict) and names:
            values |= {"label_names": [str(label) for label in names.values()], "n_classes": len(names)}
    return values


def _split_values(counts: dict[str, int]) -> dict[str, Any]:
    return {"splits": counts, "n_items": sum(counts.values())}


def _line_values(sections: Sequence[Heading]) -> dict[str, Any]:
    """What lines such as `- **Homepage:** …` say."""
    known, texts = platform_items("hugging_face_lines"), {}
    for line in (line for section in sections for line in section.body.splitlines()):
        bold = BOLD_LINE.match(line)
        if bold and _folded(bold[1]) in known and own_words(bold[2]):
            texts[known[_folded(bold[1])]["field"]] = bold[2]
    values = {field: as_value(field, text) for field, text in texts.items()}
    return {field: value for field, value in values.items() if value is not None}


def _read_tfds(text: str, source: str, name: str) -> Document:
    bullets = list(TFDS_BULLET.finditer(text))
    ends = [*(bullet.start() for bullet in bullets[1:]), len(text)]
    sections = [
        (bullet[1].strip().casefold(), text[bullet.end() : end].strip())
        for bullet, end in zip(bullets, ends, strict=True)
    ]
    items = [item for title, body in sections if (item := item_of("tfds", title, body))]
    values: dict[str, Any] = {}
    for item in items:
        body = item.body or ""
        if item.field == "splits" and (counts := TFDS_SPLIT.findall(body)):
            values |= _split_values({part: int(count.replace(",", "")) for part, count in counts})
        if item.field == "version" and (version := TFDS_VERSION.search(body)):
            values["version"] = version[1]
    if title := TFDS_NAME.search(text):
        values["title"] = title[1].strip("` ")
    return document_of("TensorFlow Datasets", name, source, items, values)


def _read_torchtext(text: str, source: str, name: str) -> Document:
    docstring = text.strip().strip('"')
    sections = _docstring_sections(textwrap.dedent(docstring))
    items = [item for title, body in sections if (item := item_of("torchtext", title, body))]
    values: dict[str, Any] = {}
    for item in items:
        body = item.body or ""
        if item.field == "splits":
            counts = [count for line in body.splitlines() if (count := TORCHTEXT_COUNT.match(line.strip()))]
            values |= _split_values({count[1]: int(re.sub(r"[,_]", "", count[2])) for count in counts})
        if item.field == "n_classes" and (number := re.search(r"\d+", body)):
            values["n_classes"] = int(number.group())
    first_line = next((line.strip() for line in docstring.splitlines() if line.strip()), "")
    values |= {"title": first_line} if first_line else {}
    return document_of("PyTorch (torchtext)", name, source, items, values)


def _docstring_sections(text: str) -> Iterator[tuple[str, str]]:
    """Title and body of each part of a docstring."""
    title, body = "", list[str]()
    for line in [*text.splitlines(), "parameters:"]:
        start = TORCHTEXT_PART.match(line.strip())
        if start is None:
            body.append(line)
            continue
        yield title, "\n".join(body).strip()
        title = TORCHTEXT_TITLES.get(start[1].casefold(), start[1].casefold())
        body = [start[2] or ""]


def _read_papers_with_code(record: Mapping[str, Any], source: str, name: str) -> Document:
    bodies: dict[str, str] = {}
    for key, title in RECORD_KEYS.items():
        if key in record:
            bodies[title] = "\n".join(filter(None, [bodies.get(title, ""), _record_text(record[key])]))
    items = [item_of("papers_with_code", title, body) for title, body in bodies.items()]
    values: dict[str, Any] = {}
    full_name = record.get("full_name") or record.get("name")
    if isinstance(full_name, str) and full_name.strip():
        values["title"] = full_name
    if isinstance(record.get("paper"), Mapping) and (citation := _record_text(record["paper"])):
        values["citation"] = citation
    if record.get("homepage") and (address := as_value("homepage", _record_text(record["homepage"]))):
        values["homepage"] = address
    return document_of("Papers with Code", name, source, items, values)


def _record_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return ", ".join(_record_text(part) for part in value.values() if part)
    if isinstance(value, list):
        return "\n".join(_record_text(part) for part in value)
    return value if isinstance(value, str) else json.dumps(value)


@dataclass(frozen=True)
class Surveyed:
    """One page of a survey."""

    page: str
    platform: str
    titles: dict[str, tuple[str, ...]]
    """Items that the page has a place for, by group."""
    answered: dict[str, int]
    """How many of them say something."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Items by group, in the order of GROUPS."""
        return tuple(len(self.titles[group]) for group in GROUPS)


def survey(paths: Iterable[str | Path]) -> list[Surveyed]:
    """What each page shows, in the order given."""
    return [surveyed(read_document(path), str(path)) for path in paths]


def builtin_pages() -> Sequence[Path]:
    """The pages that stand for the platforms of the paper."""
    return [FOLDER / "platforms" / name for name in PAGES]


def surveyed(document: Document, page: str) -> Surveyed:
    """The items of one page by group; of a card of ours these are its required fields."""
    if not document.items:
        shown = [(about.id, about.group, document.card[about.id].known) for about in required(document.card)]
    else:
        whole = {item.title: item for item in document.items if item.within is None}
        shown = [(title, item.group, _answered(document, title)) for title, item in whole.items()]
    titles = {group: tuple(title for title, of, _ in shown if of == group) for group in GROUPS}
    answered = Counter(group for _, group, is_answered in shown if is_answered)
    return Surveyed(page, document.platform, titles, {group: answered[group] for group in GROUPS})


def _answered(document: Document, title: str) -> bool:
    """Whether the item, or a part of it, says something."""
    parts = [item.title for item in document.items if title in (item.title, item.within)]
    return any(part not in document.missing for part in parts)
