"""How much of a card is answered, group by group, and what it leaves open about people; no overall grade on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unseen.cards.card import Card, Entry
from unseen.cards.fields import GROUPS, CardField, fields
from unseen.cards.prose import is_substantial
from unseen.types import Finding, Measurement


@dataclass(frozen=True)
class Coverage:
    """Answers to the required fields of one group."""

    group: str
    required: int
    filled: int
    """Answered, if only by saying why the question does not apply."""
    substantive: int
    """Answered with more than a token: numbers, names, or some words of content that are not the template's."""

    def measurements(self) -> list[Measurement]:
        """Both shares, as rows."""
        return [
            Measurement(metric, count / self.required, self.required, slice=f"group={self.group}")
            for metric, count in (("card_coverage", self.filled), ("card_substance", self.substantive))
        ]


def coverage(card: Card) -> dict[str, Coverage]:
    """The coverage of each group of required fields."""
    groups = {}
    for group in GROUPS:
        asked = [about for about in required(card) if about.group == group]
        answered = [about for about in asked if card[about.id].known]
        substantive = [about for about in answered if _is_substantive(about, card[about.id])]
        groups[group] = Coverage(group, len(asked), len(answered), len(substantive))
    return groups


def required(card: Card) -> list[CardField]:
    """Fields that this card must answer; the evidence of label bias only where annotators are known one by one."""
    annotated = card["label_bias_evidence"].known
    return [about for about in fields().values() if about.required is True or (about.required and annotated)]


def _is_substantive(about: CardField, entry: Entry) -> bool:
    """Whether an answer is more than a token one."""
    if entry.status == "not_applicable":
        return is_substantial(entry.method)
    if about.short or about.kind in ("number", "counts", "numbers", "names", "languages", "checksum"):
        return entry.value not in (None, "", [], {})
    leaves = list(_leaves(entry.value))
    return any(isinstance(leaf, float | int) for leaf in leaves) or is_substantial(
        " ".join(leaf for leaf in leaves if isinstance(leaf, str))
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def undocumented(card: Card) -> list[CardField]:
    """Required social fields that nobody has answered: they are named at the top of its readable card."""
    return [about for about in required(card) if about.group == "social" and not card[about.id].known]


def social_gate(card: Card, strict: bool = False) -> Finding:
    """Whether the social part is answered; a failure only when `strict`."""
    lacking = undocumented(card)
    if not lacking:
        return Finding("card.social", "ok", "every required social field is answered")
    names = ", ".join(about.id for about in lacking)
    asked = sum(about.group == "social" for about in required(card))
    return Finding(
        "card.social",
        "fail" if strict else "warn",
        f"{len(lacking)} of {asked} required social fields are not documented: {names}",
        len(lacking),
        advice="have the curator answer them, or write not_applicable with the reason",
    )


def slices_of(card: Card) -> dict[str, tuple[str, ...]]:
    """Slices that the card names, as values by attribute.

    Groups at risk come under the field that names them; demographics under their attribute, but only where shares were
    reported. They are names: whether the data has such an attribute or a list of terms for it is for the caller.
    """
    slices: dict[str, dict[str, None]] = {}
    for field in ("exclusion_risk", "overgeneralisation_risk"):
        for risk in card[field].value or ():
            slices.setdefault(field, {})[risk["group"]] = None
    for field in ("data_demographics", "annotator_demographics"):
        for attribute, shares in (card[field].value or {}).get("attributes", {}).items():
            slices.setdefault(attribute, {}).update(dict.fromkeys(shares))
    return {attribute: tuple(values) for attribute, values in slices.items()}
