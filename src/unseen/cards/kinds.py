"""What the value of each kind of field must look like; each check returns its problems."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

DOMAINS = (
    "news", "social_media", "conversation", "reviews", "encyclopaedia", "web", "legal", "medical", "scientific",
    "education", "government", "fiction", "other",
)  # fmt: skip
STANCES = ("uses", "extends", "criticises", "audits")
BASES = ("self_report", "platform_statistics", "unknown")
"""Where shares of a population come from; guessing them from texts or names is not among these."""
CHECKSUM = re.compile(r"sha256:[0-9a-f]{64}|unseen:[0-9a-f]{32}")
POPULATION = ("text", "attributes", "basis")
ANNOTATORS = (*POPULATION, "n_annotators", "recruitment", "pay", "country", "native_language")
PERSONAL = (
    "text", "categories", "rate_per_1000", "precision", "not_measured", "anonymised", "assessed_after_collection",
)  # fmt: skip
PRIVACY = ("text", "lawful_basis", "data_subjects", "retention", "removal_contact")

Problems = Iterator[str]


def problems_of(kind: str, value: Any) -> list[str]:
    """What is wrong with `value` as a value of this kind."""
    return list(KINDS[kind](value))


def _text(value: Any) -> Problems:
    if not isinstance(value, str) or not value.strip():
        yield f"expected a text, got {value!r}"


def _names(value: Any) -> Problems:
    if not _is_list(value) or not all(isinstance(each, str) and each.strip() for each in value):
        yield f"expected a list of texts, got {value!r}"
    elif not value:
        yield "expected a list of texts, got an empty one"


def _languages(value: Any) -> Problems:
    from langcodes import tag_is_valid

    problems = list(_names(value))
    yield from problems
    if not problems:
        yield from (f"{each!r} is not a BCP-47 language tag" for each in value if not tag_is_valid(each))


def _domain(value: Any) -> Problems:
    yield from _keys(value, ("kind", "text"))
    if isinstance(value, Mapping) and value.get("kind") not in DOMAINS:
        yield f"kind: expected one of {', '.join(DOMAINS)}, got {value.get('kind')!r}"


def _number(value: Any) -> Problems:
    if not _is_count(value):
        yield f"expected a whole number from 0 on, got {value!r}"


def _counts(value: Any) -> Problems:
    if not isinstance(value, Mapping) or not all(_is_count(each) for each in value.values()):
        yield f"expected whole numbers by name, got {value!r}"


def _numbers(value: Any) -> Problems:
    if not isinstance(value, Mapping) or not all(_is_number(each) for each in value.values()):
        yield f"expected numbers by name, got {value!r}"


def _checksum(value: Any) -> Problems:
    if not isinstance(value, str) or not CHECKSUM.fullmatch(value):
        yield f"expected sha256: and 64 hexadecimal digits (or unseen: and 32), got {value!r}"


def _works(value: Any) -> Problems:
    if not _is_list(value):
        yield f"expected a list of works, got {value!r}"
        return
    for place, work in enumerate(value):
        yield from (f"work {place}: {said}" for said in _keys(work, ("citation", "stance", "finding")))
        if isinstance(work, Mapping) and work.get("stance") not in STANCES:
            yield f"work {place}: stance: expected one of {', '.join(STANCES)}, got {work.get('stance')!r}"


def _groups(value: Any) -> Problems:
    if not _is_list(value):
        yield f"expected a list of groups, got {value!r}"
        return
    for place, group in enumerate(value):
        yield from (f"group {place}: {said}" for said in _keys(group, ("group", "reason")))
        if isinstance(group, Mapping) and not (isinstance(group.get("group"), str) and group["group"].strip()):
            yield f"group {place}: expected the name of a group"


def _personal(value: Any) -> Problems:
    yield from _keys(value, PERSONAL)
    if isinstance(value, Mapping) and not isinstance(value.get("assessed_after_collection", False), bool):
        yield "assessed_after_collection: expected true or false"


def _population(value: Any, keys: Sequence[str] = POPULATION) -> Problems:
    yield from _keys(value, keys)
    if not isinstance(value, Mapping):
        return
    if value.get("basis", "unknown") not in BASES:
        yield (
            f"basis: expected one of {', '.join(BASES)}, got {value['basis']!r}; what people are is never inferred "
            "from their texts"
        )
    attributes = value.get("attributes", {})
    if not isinstance(attributes, Mapping):
        yield "attributes: expected shares by attribute and value"
        return
    for name, shares in attributes.items():
        if not isinstance(shares, Mapping) or not all(_is_number(each) and 0 <= each <= 1 for each in shares.values()):
            yield f"{name}: expected shares from 0 to 1 by value, got {shares!r}"
        elif sum(shares.values()) > 1 + 1e-6:
            yield f"{name}: the shares sum to {sum(shares.values()):g}"


def _annotators(value: Any) -> Problems:
    yield from _population(value, ANNOTATORS)
    if isinstance(value, Mapping) and "n_annotators" in value and not _is_count(value["n_annotators"]):
        yield f"n_annotators: expected a whole number, got {value['n_annotators']!r}"


def _privacy(value: Any) -> Problems:
    yield from _keys(value, PRIVACY)


def _object(value: Any) -> Problems:
    if not isinstance(value, Mapping):
        yield f"expected values by name, got {value!r}"


def _keys(value: Any, known: Sequence[str]) -> Problems:
    if not isinstance(value, Mapping):
        yield f"expected an object with {', '.join(known)}, got {value!r}"
        return
    if not value:
        yield f"expected at least one of {', '.join(known)}"
    yield from (f"{name!r} is not one of {', '.join(known)}" for name in value if name not in known)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


KINDS: dict[str, Callable[[Any], Problems]] = {
    "text": _text,
    "names": _names,
    "languages": _languages,
    "domain": _domain,
    "number": _number,
    "counts": _counts,
    "numbers": _numbers,
    "checksum": _checksum,
    "works": _works,
    "groups": _groups,
    "personal": _personal,
    "population": _population,
    "annotators": _annotators,
    "privacy": _privacy,
    "object": _object,
}
"""Checks by the kind that fields.toml names."""
