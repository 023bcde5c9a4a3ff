"""A new card for a dataset, or an old one brought up to date: what people wrote stays, what is measured is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unseen.cards.catalogued import blank_card
from unseen.cards.document import Document
from unseen.cards.reading import OWN, read_document
from unseen.errors import InputError
from unseen.types import Dataset


def start_card(data: Dataset, out: str | Path, readme: str | Path | None = None) -> Document:
    """The document that a card of `data` starts from.

    That is the card in `out` where there is one, else what the catalogue knows and, before it, what `readme` says.
    """
    if Path(out).exists():
        found = read_document(out)
        if found.platform != OWN:
            raise InputError(f"{out} is there and is not a card of ours", fix="name another file with -o")
        if readme is not None:
            raise InputError(
                f"{out} is there, so {readme} would have no effect", fix="leave it out, or write another file with -o"
            )
        return found
    blank = blank_card(data)
    if readme is None:
        return Document(OWN, blank, (), {})
    told = read_document(readme)
    known = {name: entry for name, entry in told.card.entries.items() if entry.known}
    card = replace(blank.filled(known), unplaced={**blank.unplaced, **told.card.unplaced})
    return replace(told, card=card)
