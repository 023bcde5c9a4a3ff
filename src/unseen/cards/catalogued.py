"""What the catalogue of known datasets says, as answers of a card."""

from __future__ import annotations

from unseen.cards.card import Card, Entry
from unseen.cards.fields import fields
from unseen.cards.kinds import problems_of
from unseen.data.catalogue import cards
from unseen.types import Dataset

SOURCE = "catalogue of unseen"


def blank_card(data: Dataset) -> Card:
    """The card of a dataset before anything was measured: empty, or what the catalogue knows of it.

    A dataset is known by its name and its labels together; a file of somebody else's may have the same name.
    """
    known = cards().get(data.name.partition("/")[0])
    if known is None or {*known.labels} != {*data.label_names}:
        return Card(data.name, {})
    told = {
        "title": known.title,
        "task": known.task,
        "language": [known.language],
        "licence": known.licence,
        "citation": known.citation,
        "homepage": known.homepage,
        "n_items": known.rows,
        "label_names": list(known.labels),
    }
    right = {name: value for name, value in told.items() if not problems_of(fields()[name].kind, value)}
    entries = {name: Entry(value, "declared", "contributor", source=SOURCE) for name, value in right.items()}
    return Card(data.name, entries, {"traps": " ".join(known.traps)} if known.traps else {})
