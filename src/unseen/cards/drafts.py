"""A new card for a dataset, or an old one brought up to date: what people wrote stays, what is measured is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unseen.cards.card import Card, Entry, fields, value_problems
from unseen.cards.documents import Document
from unseen.cards.pages import OWN, read_document
from unseen.data.catalogue import cards
from unseen.errors import InputError
from unseen.types import Dataset

SOURCE = "catalogue of unseen"


def start_card(data: Dataset, out: str | Path, readme: str | Path | None = None) -> Document:
    """The document that a card of `data` starts from.

    That is the card in `out` where there is one, else what the catalogue knows and, before it, what `readme` says.
    """
    if Path(out).exists():
        document = read_document(out)
        if document.platform != OWN:
            raise InputError(f"{out} is there and is not a card of ours", fix="name another file with -o")
        if readme is not None:
            raise InputError(
                f"{out} is there, so {readme} would have no effect", fix="leave it out, or write another file with -o"
            )
        return document
    draft = catalogue_card(data)
    if readme is None:
        return Document(OWN, draft, (), {})
    page = read_document(readme)
    answers = {name: entry for name, entry in page.card.entries.items() if entry.known}
    card = replace(draft.filled(answers), unplaced={**draft.unplaced, **page.card.unplaced})
    return replace(page, card=card)


def catalogue_card(data: Dataset) -> Card:
    """The card of a dataset before anything was measured: empty, or what the catalogue knows of it.

    A dataset is known by its name and its labels together; a file of somebody else's may have the same name.
    """
    known = cards().get(data.name.partition("/")[0])
    if known is None or {*known.labels} != {*data.label_names}:
        return Card(data.name, {})
    values = {
        "title": known.title,
        "task": known.task,
        "language": [known.language],
        "licence": known.licence,
        "citation": known.citation,
        "homepage": known.homepage,
        "n_items": known.rows,
        "label_names": list(known.labels),
    }
    entries = {
        name: Entry(value, "declared", "contributor", source=SOURCE)
        for name, value in values.items()
        if not value_problems(fields()[name].kind, value)
    }
    return Card(data.name, entries, {"traps": " ".join(known.traps)} if known.traps else {})
