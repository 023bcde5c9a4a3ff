"""What a card leaves open about people, and the slices that it asks for."""

from __future__ import annotations

from collections.abc import Mapping

from unseen.cards.card import Card
from unseen.cards.coverage import required
from unseen.cards.fields import Field
from unseen.types import Finding


def undocumented(card: Card) -> list[Field]:
    """Required social fields that nobody has answered: they are named at the top of its readable card."""
    return [each for each in required(card) if each.group == "social" and not card[each.id].known]


def gate(card: Card, strict: bool = False) -> Finding:
    """Whether the social part is answered; a failure only when `strict`."""
    lacking = undocumented(card)
    if not lacking:
        return Finding("card.social", "ok", "every required social field is answered")
    names = ", ".join(each.id for each in lacking)
    asked = sum(each.group == "social" for each in required(card))
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
    found: dict[str, dict[str, None]] = {}
    for field in ("exclusion_risk", "overgeneralisation_risk"):
        for each in card[field].value or ():
            found.setdefault(field, {})[each["group"]] = None
    for field in ("data_demographics", "annotator_demographics"):
        attributes = (card[field].value or {}).get("attributes", {})
        for attribute, shares in _shares(attributes).items():
            found.setdefault(attribute, {}).update(dict.fromkeys(shares))
    return {attribute: tuple(values) for attribute, values in found.items()}


def _shares(attributes: object) -> Mapping[str, Mapping[str, float]]:
    return attributes if isinstance(attributes, Mapping) else {}
