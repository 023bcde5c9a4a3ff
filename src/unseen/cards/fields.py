"""The fields of a dataset card, from fields.toml: group, kind of value, whether required, and who may fill them.

What the value of each kind must be is said by types, which pydantic checks.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, Strict, field_validator, model_validator

from unseen.store.settings_file import Problems, SettingsTable, Text

GROUPS = ("descriptive", "social", "administrative")
"""The three groups of metadata, after Park and Jeoung (2022)."""
FOLDER = Path(__file__).parent
BASES = ("self_report", "platform_statistics", "unknown")
"""Where shares of a population come from; guessing them from texts or names is not among these."""


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
