"""Statements about limits and impact, sorted by a list of cues: a proposal that a person confirms.

Limits mix what is technical (size, noise) with what is contextual (whose language, where, when); impact mixes what
helps, what enables work, and what hurts (Park and Jeoung 2022). A sentence goes to the kind with the most cues; one
without cues, or with as many for two kinds, is left to a person.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache

from unseen.cards.fields import FOLDER
from unseen.cards.missing import said, sentences
from unseen.errors import UnknownNameError

NOT_CONFIRMED = "sorted by a list of cues; not confirmed by a person"


def kind_of_statement(sentence: str, family: str) -> str | None:
    """The field that a sentence about `limitations` or `impact` belongs to; None where only a person can tell."""
    found = {field: len({each.group().casefold() for each in cues.finditer(sentence)}) for field, cues in _cues(family)}
    most = max(found.values())
    first = [field for field, times in found.items() if times == most]
    return first[0] if most and len(first) == 1 else None


def sorted_statements(text: str, family: str) -> dict[str | None, list[str]]:
    """The sentences of `text` by the field they belong to."""
    found: dict[str | None, list[str]] = {}
    for sentence in sentences(said(text)):
        found.setdefault(kind_of_statement(sentence, family), []).append(sentence)
    return found


@cache
def _cues(family: str) -> list[tuple[str, re.Pattern[str]]]:
    content = tomllib.loads((FOLDER / "statement_cues.toml").read_text(encoding="utf-8"))
    if family not in content:
        raise UnknownNameError.of("kind of statement", family, content)
    return [(field, re.compile(rf"\b(?:{'|'.join(cues)})", re.IGNORECASE)) for field, cues in content[family].items()]
