"""A dataset card: every answer with its status, who gave it, when, from what and how; as a record and as a file.

The fields of a card are in fields.toml: group, kind of value, whether required, and who may fill them. What the value
of each kind must be is said by types, which pydantic checks.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, Strict, create_model, field_validator, model_validator

from unseen.errors import InputError, TableError
from unseen.store.files import json_text, write_text
from unseen.store.settings_file import KeyPath, Listed, Problems, SettingsTable, Text

GROUPS = ("descriptive", "social", "administrative")
"""The three groups of metadata, after Park and Jeoung (2022)."""
FOLDER = Path(__file__).parent
BASES = ("self_report", "platform_statistics", "unknown")
"""Where shares of a population come from; guessing them from texts or names is not among these."""
Status = Literal["declared", "measured", "assessed", "unknown", "not_applicable"]
Role = Literal["creator", "contributor", "curator", "annotator", "tool"]
ROLES: tuple[str, ...] = get_args(Role)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
SUFFIXES = (".json", ".yaml", ".yml")


@dataclass(frozen=True)
class CardField:
    """One question that a card answers."""

    id: str
    group: str
    kind: str
    """What the value must be; a name in `KINDS`."""
    required: bool | str
    """True, False, or `annotators`: only where labels of single annotators exist."""
    who: tuple[str, ...]
    """Roles that may answer."""
    write: str
    """What to write, for whoever answers."""
    short: bool = False
    """Whether a word or an address is a full answer."""


@cache
def fields() -> dict[str, CardField]:
    """Every field by its id, in the order of the card."""
    content = tomllib.loads((FOLDER / "fields.toml").read_text(encoding="utf-8"))
    return {table["id"]: CardField(**table | {"who": tuple(table["who"])}) for table in content["fields"]}


def value_problems(kind: str, value: Any) -> list[str]:
    """What is wrong with `value` as a value of this kind."""
    problems = Problems()
    problems.read(KINDS[kind], value)
    return problems.lines


def _check_language(tag: str) -> str:
    from langcodes import tag_is_valid

    if not tag_is_valid(tag):
        raise ValueError(f"{tag!r} is not a BCP-47 language tag")
    return tag


def _check_shares(shares: dict[Any, float]) -> dict[Any, float]:
    if sum(shares.values()) > 1 + 1e-6:
        raise ValueError(f"the shares sum to {sum(shares.values()):g}")
    return shares


Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Language = Annotated[Text, AfterValidator(_check_language)]
Shares = Annotated[dict[Any, Annotated[float, Field(ge=0, le=1)]], AfterValidator(_check_shares)]
Checksum = Annotated[
    str,
    Field(
        pattern="^(sha256:[0-9a-f]{64}|unseen:[0-9a-f]{32})$",
        description="sha256: and 64 hexadecimal digits (or unseen: and 32)",
    ),
]


class _Answer(SettingsTable):
    """A value of several parts, of which one at least must be given."""

    text: Any = None

    @model_validator(mode="after")
    def _something_is_said(self) -> _Answer:
        if not self.model_fields_set:
            raise ValueError(f"needs at least one of {', '.join(type(self).model_fields)}")
        return self


class Domain(_Answer):
    """Where such texts are found."""

    kind: Literal[
        "news", "social_media", "conversation", "reviews", "encyclopaedia", "web", "legal", "medical", "scientific",
        "education", "government", "fiction", "other",
    ]  # fmt: skip


class CitedWork(SettingsTable):
    """Somebody's work with the dataset."""

    citation: Any = None
    stance: Literal["uses", "extends", "criticises", "audits"]
    finding: Any = None


class RiskGroup(SettingsTable):
    """People whom the data may fail."""

    group: Text
    reason: Any = None


class PersonalInformation(_Answer):
    """What the texts tell about persons."""

    categories: Any = None
    rate_per_1000: Any = None
    precision: Any = None
    not_measured: Any = None
    anonymised: Any = None
    assessed_after_collection: bool = False


class Population(_Answer):
    """Who people are, in shares."""

    attributes: dict[Any, Shares] = Field(default_factory=dict)
    basis: Literal["self_report", "platform_statistics", "unknown"] = "unknown"

    @field_validator("basis", mode="before")
    @classmethod
    def _is_never_inferred(cls, basis: Any) -> Any:
        if basis not in BASES:
            raise ValueError(
                f"expected one of {', '.join(BASES)}, got {basis!r}; what people are is never inferred from their texts"
            )
        return basis


class Annotators(Population):
    """Who labelled."""

    n_annotators: Count | None = None
    recruitment: Any = None
    pay: Any = None
    country: Any = None
    native_language: Any = None


class Privacy(_Answer):
    """The law on personal data."""

    lawful_basis: Any = None
    data_subjects: Any = None
    retention: Any = None
    removal_contact: Any = None


KINDS: dict[str, Any] = {
    "text": Text,
    "names": Annotated[list[Text], Strict(False), Field(min_length=1)],
    "languages": Annotated[list[Language], Strict(False), Field(min_length=1)],
    "domain": Domain,
    "number": Annotated[Count, Strict()],
    "counts": dict[Any, Annotated[Count, Strict()]],
    "numbers": dict[Any, Annotated[Number, Strict()]],
    "checksum": Checksum,
    "works": list[CitedWork],
    "groups": list[RiskGroup],
    "personal": PersonalInformation,
    "population": Population,
    "annotators": Annotators,
    "privacy": Privacy,
    "object": dict[Any, Any],
}
"""What a value must be, by the kind that fields.toml names."""


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
        problems = Problems(_place)
        problems.read(_fields_model(), self._answers(), ("fields",))
        if problems.lines:
            raise TableError(f"the card of {self.name} has wrong answers", problems=problems.lines)
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
        open_fields = [about for name, about in fields().items() if about.required is True and not self[name].known]
        to_write = {about.id: f"{about.write} (by {' or '.join(about.who)})" for about in open_fields}
        return {
            "unseen_card": 1,
            "name": self.name,
            "fields": self._answers(),
            "unplaced": dict(self.unplaced),
            "to_write": to_write,
        }

    def _answers(self) -> dict[str, Any]:
        return {name: asdict(entry) | {"evidence": list(entry.evidence)} for name, entry in self.entries.items()}


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


def card_of(content: Mapping[str, Any], place: str) -> Card:
    """The card that the content of a file describes; all its problems in one error."""
    if content.get("unseen_card") != 1 or not isinstance(content.get("fields"), Mapping):
        raise InputError(f"{place} is not a dataset card of ours", expected='"unseen_card": 1 and "fields"')
    problems = Problems(_place)
    checked = problems.read(card_model(), content)
    if problems.lines or checked is None:
        raise TableError(f"{place} is not a valid card", problems=problems.lines)
    entries = {}
    for name, answer in content["fields"].items():
        table = getattr(checked.fields, name)
        entries[name] = Entry(**{**answer, "date": table.date, "evidence": table.evidence})
    return Card(checked.name, entries, checked.unplaced)


def _iso(date: Any) -> Any:
    """A date that YAML has recognised, as it was written."""
    return date.isoformat() if isinstance(date, datetime.date) else date


def _check_date(date: str) -> str:
    try:
        if date and not (DATE.fullmatch(date) and datetime.date.fromisoformat(date)):
            raise ValueError
    except ValueError as cause:
        raise ValueError(f"expected YYYY-MM-DD, got {date!r}") from cause
    return date


class EntryTable(SettingsTable):
    """An answer in a file; a subclass for each kind of field says what its value must be."""

    value: Any = None
    status: Status = "unknown"
    role: Role | None = None
    by: str = ""
    date: Annotated[str, BeforeValidator(_iso), AfterValidator(_check_date)] = ""
    source: str = ""
    method: str = ""
    evidence: Listed[str] = ()

    @model_validator(mode="after")
    def _value_fits_status(self) -> EntryTable:
        if self.status in ("unknown", "not_applicable"):
            if self.value is not None:
                raise ValueError(f"the status {self.status} goes with no value")
            if self.status == "not_applicable" and not self.method:
                raise ValueError("not_applicable needs its reason as method")
        elif self.value is None:
            raise ValueError(f"the status {self.status} needs a value")
        elif self.role is None:
            raise ValueError("role: who gave this answer?")
        return self


@cache
def _fields_model() -> Any:
    """A table for each field, whose value is of the kind that fields.toml says."""
    by_kind = {
        kind: create_model(f"Entry_{kind}", __base__=EntryTable, value=(values | None, None))
        for kind, values in KINDS.items()
    }
    tables: dict[str, Any] = {name: (by_kind[about.kind], None) for name, about in fields().items()}
    return create_model("CardFields", __base__=SettingsTable, **tables)


@cache
def card_model() -> Any:
    """The model of a card's file."""
    return create_model(
        "CardContent",
        __base__=SettingsTable,
        unseen_card=(Literal[1], ...),
        name=(Text, ...),
        fields=(_fields_model(), ...),
        unplaced=(dict[str, str], {}),
        to_write=(Any, None),
    )


def _place(path: KeyPath) -> str:
    """`title:` for an answer, `known_uses: item 1` for a part of one."""
    words = [f"item {part + 1}" if isinstance(part, int) else str(part) for part in path if part != "value"]
    if len(words) < 2 or words[0] != "fields":
        return " ".join(words)
    return f"{words[1]}: {' '.join(words[2:])}".strip()
