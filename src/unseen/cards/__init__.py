"""Dataset cards: what is known about a dataset, by whom, and what is still open about people.

After Park and Jeoung (2022), Raison d'être of the benchmark dataset: social impact is a third group of metadata beside
descriptive and administrative, every answer says who gave it, and what nobody knows is shown as unknown.
"""

from unseen.cards.audit import CardAudit, audit_card, coverage, slices_of, undocumented
from unseen.cards.card import Card, Entry, fields, write_card
from unseen.cards.documents import Document
from unseen.cards.facts import measure_card
from unseen.cards.pages import read_document, survey

__all__ = [
    "Card",
    "CardAudit",
    "Document",
    "Entry",
    "audit_card",
    "coverage",
    "fields",
    "measure_card",
    "read_document",
    "slices_of",
    "survey",
    "undocumented",
    "write_card",
]
