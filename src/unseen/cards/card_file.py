"""Cards of our own form to and from files: JSON, or YAML."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unseen.cards.card import KEYS, Card, Entry, card_problems
from unseen.errors import InputError, TableError
from unseen.store.files import door, json_text, write_text
from unseen.store.plain_yaml import plain_yaml

SUFFIXES = (".json", ".yaml", ".yml")
PARTS = ("unseen_card", "name", "fields", "unplaced", "to_write")


def write_card(card: Card, path: str | Path) -> Path:
    """Write the card as JSON, or as YAML where the name of the file says so."""
    check_name(path)
    if Path(path).suffix == ".json":
        return write_text(path, json_text(card.as_dict()))
    import yaml

    return write_text(path, yaml.safe_dump(card.as_dict(), allow_unicode=True, sort_keys=False))


def check_name(path: str | Path) -> None:
    """Refuse a name under which no card can be written."""
    if Path(path).suffix not in SUFFIXES:
        raise InputError(f"{path} is no name for a card", expected=f"a name that ends in {', '.join(SUFFIXES)}")


def read_yaml_card(path: str | Path) -> Card:
    """The card in a YAML file of our own form."""
    with door(path, "a dataset card"):
        return card_of(plain_yaml(Path(path).read_text(encoding="utf-8"), str(path), typed=True), str(path))


def card_of(content: Mapping[str, Any], place: str) -> Card:
    """The card that `content` describes; all its problems in one error."""
    told = content.get("fields")
    if content.get("unseen_card") != 1 or not isinstance(told, Mapping):
        raise InputError(f"{place} is not a dataset card of ours", expected='"unseen_card": 1 and "fields"')
    problems = [f"{name!r} is no part of a card" for name in content if name not in PARTS]
    name, unplaced = content.get("name"), content.get("unplaced", {})
    if not isinstance(name, str) or not name:
        problems.append("name: expected a text")
    if not isinstance(unplaced, Mapping) or not all(isinstance(each, str) for each in unplaced.values()):
        problems.append("unplaced: expected texts by heading")
    entries = {}
    for field, entry in told.items():
        wrong = _shape_problems(entry)
        problems += [f"{field}: {said}" for said in wrong]
        if not wrong:
            entries[str(field)] = _entry(entry)
    problems += card_problems(entries)
    if problems:
        raise TableError(f"{place} is not a valid card", problems=problems)
    return Card(str(name), entries, dict(unplaced))


def _shape_problems(entry: Any) -> list[str]:
    if not isinstance(entry, Mapping):
        return [f"expected an object with {', '.join(KEYS)}, got {entry!r}"]
    problems = [f"{key!r} is not one of {', '.join(KEYS)}" for key in entry if key not in KEYS]
    if not isinstance(entry.get("evidence", []), list):
        problems.append("evidence: expected a list")
    return problems


def _entry(content: Mapping[str, Any]) -> Entry:
    date = content.get("date", "")
    read = {
        "evidence": tuple(content.get("evidence", ())),
        "date": date.isoformat() if hasattr(date, "isoformat") else date,
    }
    return Entry(**{**content, **read})
