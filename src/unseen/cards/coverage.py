"""How much of a card is answered, group by group; there is no overall grade on purpose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unseen.cards.card import Card, Entry
from unseen.cards.fields import GROUPS, Field, fields
from unseen.cards.missing import substantial
from unseen.types import Measurement


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
    found = {}
    for group in GROUPS:
        asked = [each for each in required(card) if each.group == group]
        answered = [each for each in asked if card[each.id].known]
        more = [each for each in answered if is_substantive(each, card[each.id])]
        found[group] = Coverage(group, len(asked), len(answered), len(more))
    return found


def required(card: Card) -> list[Field]:
    """Fields that this card must answer; the evidence of label bias only where annotators are known one by one."""
    annotated = card["label_bias_evidence"].known
    return [each for each in fields().values() if each.required is True or (each.required and annotated)]


def is_substantive(about: Field, entry: Entry) -> bool:
    """Whether an answer is more than a token one."""
    if entry.status == "not_applicable":
        return substantial(entry.method)
    if about.short or about.kind in ("number", "counts", "numbers", "names", "languages", "checksum"):
        return entry.value not in (None, "", [], {})
    return any(isinstance(each, float | int) for each in _leaves(entry.value)) or substantial(
        " ".join(each for each in _leaves(entry.value) if isinstance(each, str))
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif value is not None and not isinstance(value, bool):
        yield value
