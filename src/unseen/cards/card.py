"""A dataset card: every answer with its status, who gave it, when, from what and how."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from unseen.cards.fields import Field, fields
from unseen.cards.kinds import problems_of
from unseen.errors import TableError, hint

STATUSES = ("declared", "measured", "assessed", "unknown", "not_applicable")
ROLES = ("creator", "contributor", "curator", "annotator", "tool")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
KEYS = ("value", "status", "role", "by", "date", "source", "method", "evidence")


@dataclass(frozen=True)
class Entry:
    """One answer. `unknown` is an answer that is missing; `not_applicable` gives its reason as `method`."""

    value: Any = None
    status: str = "unknown"
    role: str | None = None
    by: str = ""
    date: str = ""
    source: str = ""
    method: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether somebody has answered."""
        return self.status != "unknown"


UNKNOWN = Entry()


@dataclass(frozen=True)
class Card:
    """The answers about one dataset; a field that nobody answered is `unknown`, never absent."""

    name: str
    entries: Mapping[str, Entry]
    unplaced: Mapping[str, str] = field(default_factory=dict)
    """What a document says that no field takes as it stands, by heading: a person has to place it."""

    def __post_init__(self) -> None:
        problems = card_problems(self.entries)
        if problems:
            raise TableError(f"the card of {self.name} has wrong answers", problems=problems)
        object.__setattr__(self, "entries", {name: self.entries.get(name, UNKNOWN) for name in fields()})

    def __getitem__(self, name: str) -> Entry:
        return self.entries[name]

    def filled(self, entries: Mapping[str, Entry]) -> Card:
        """The card with these answers in place of its own."""
        return replace(self, entries={**self.entries, **entries})

    def values(self) -> dict[str, Any]:
        """The values of what is known."""
        return {name: entry.value for name, entry in self.entries.items() if entry.known}

    def as_dict(self) -> dict[str, Any]:
        """The card as plain values, the form it is written in; `to_write` says what is open and is never read."""
        told = {name: asdict(entry) | {"evidence": list(entry.evidence)} for name, entry in self.entries.items()}
        lacking = [about for name, about in fields().items() if about.required is True and not self[name].known]
        return {
            "unseen_card": 1,
            "name": self.name,
            "fields": told,
            "unplaced": dict(self.unplaced),
            "to_write": {each.id: f"{each.write} (by {' or '.join(each.who)})" for each in lacking},
        }


def card_problems(entries: Mapping[str, Entry]) -> list[str]:
    """Everything that is wrong with these answers."""
    unknown = [name for name in entries if name not in fields()]
    problems = [f"no field is called {name!r}{hint(name, fields())}" for name in unknown]
    for name, entry in entries.items():
        if name in fields():
            problems += [f"{name}: {said}" for said in _entry_problems(fields()[name], entry)]
    return problems


def _entry_problems(about: Field, entry: Entry) -> list[str]:
    problems = []
    if entry.status not in STATUSES:
        problems.append(f"status: expected one of {', '.join(STATUSES)}, got {entry.status!r}")
    if entry.role is not None and entry.role not in ROLES:
        problems.append(f"role: expected one of {', '.join(ROLES)}, got {entry.role!r}")
    for name in ("by", "source", "method"):
        if not isinstance(getattr(entry, name), str):
            problems.append(f"{name}: expected a text, got {getattr(entry, name)!r}")
    if entry.date and not _is_date(entry.date):
        problems.append(f"date: expected YYYY-MM-DD, got {entry.date!r}")
    if not all(isinstance(each, str) for each in entry.evidence):
        problems.append("evidence: expected a list of texts")
    return problems + _value_problems(about, entry)


def _value_problems(about: Field, entry: Entry) -> list[str]:
    if entry.status in ("unknown", "not_applicable"):
        problems = [] if entry.value is None else [f"the status {entry.status} goes with no value"]
        if entry.status == "not_applicable" and not entry.method:
            problems.append("not_applicable needs its reason as method")
        return problems
    if entry.value is None:
        return [f"the status {entry.status} needs a value"] if entry.status in STATUSES else []
    if entry.role is None:
        return ["role: who gave this answer?", *problems_of(about.kind, entry.value)]
    return problems_of(about.kind, entry.value)


def _is_date(text: Any) -> bool:
    try:
        return isinstance(text, str) and bool(DATE.fullmatch(text)) and bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False
