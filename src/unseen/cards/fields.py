"""The fields of a dataset card, from fields.toml: group, kind of value, whether required, and who may fill them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from unseen.errors import UnknownNameError

GROUPS = ("descriptive", "social", "administrative")
"""The three groups of metadata, after Park and Jeoung (2022)."""
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Field:
    """One question that a card answers."""

    id: str
    group: str
    kind: str
    """What the value must be; a name in `unseen.cards.kinds.KINDS`."""
    required: bool | str
    """True, False, or `annotators`: only where labels of single annotators exist."""
    who: tuple[str, ...]
    """Roles that may answer."""
    write: str
    """What to write, for whoever answers."""
    short: bool = False
    """Whether a word or an address is a full answer."""


@cache
def fields() -> dict[str, Field]:
    """Every field by its id, in the order of the card."""
    content = tomllib.loads((FOLDER / "fields.toml").read_text(encoding="utf-8"))
    found = [Field(**each | {"who": tuple(each["who"])}) for each in content["fields"]]
    return {each.id: each for each in found}


def field(name: str) -> Field:
    """The field called `name`."""
    if name not in fields():
        raise UnknownNameError.of("field of a card", name, fields())
    return fields()[name]
