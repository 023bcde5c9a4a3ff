"""Any document about a dataset: which platform it comes from is seen from its content."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from unseen.cards.card_file import card_of, read_yaml_card
from unseen.cards.document import Document, platform_items
from unseen.cards.hugging_face import folded, headings, read_hugging_face
from unseen.cards.papers_with_code import is_record, read_papers_with_code
from unseen.cards.tfds import BULLET, read_tfds
from unseen.cards.torchtext import read_torchtext
from unseen.errors import InputError

OWN = "unseen"
KNOWN = (
    "a card of ours (JSON, YAML), a Hugging Face README, a TFDS page, a torchtext docstring, a Papers with Code record"
)
LARGEST = 2_000_000


def read_document(path: str | Path) -> Document:
    """The document in a file; refuses what is of none of the known forms."""
    path = Path(path)
    text = _text(path)
    if path.suffix in (".yaml", ".yml"):
        return Document(OWN, read_yaml_card(path), (), {})
    if path.suffix == ".json" or text.lstrip().startswith("{"):
        return _from_json(text, path)
    source, name = path.name, path.parent.name if path.stem.casefold() == "readme" else path.stem
    name = name or path.stem
    if re.search(r"number of lines per split", text, re.IGNORECASE) and not text.lstrip().startswith("#"):
        return read_torchtext(text, source, name)
    if _titles(text, "hugging_face") or text.lstrip("\ufeff\n").startswith("---"):
        return read_hugging_face(text, source, name)
    if any(found[1].strip().casefold() in platform_items("tfds") for found in BULLET.finditer(text)):
        return read_tfds(text, source, name)
    raise InputError(f"{path} is no card that is known here", expected=KNOWN)


def _from_json(text: str, path: Path) -> Document:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path} is not valid JSON: {cause}") from cause
    if not isinstance(content, Mapping):
        raise InputError(f"{path} does not hold a JSON object", got=type(content).__name__)
    if "unseen_card" in content or not is_record(content):
        return Document(OWN, card_of(content, str(path)), (), {})
    return read_papers_with_code(content, path.name, path.stem)


def _titles(text: str, platform: str) -> bool:
    return any(folded(each.title) in platform_items(platform) for each in headings(text))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is too large for a card", expected=f"at most {LARGEST:,} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as cause:
        raise InputError(f"cannot read {path}: {cause.strerror}") from cause
    except UnicodeDecodeError as cause:
        raise InputError(f"{path} is not UTF-8 text") from cause
