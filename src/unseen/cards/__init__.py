"""Dataset cards: what is known about a dataset, by whom, and what is still open about people.

After Park and Jeoung (2022), Raison d'être of the benchmark dataset: social impact is a third group of metadata beside
descriptive and administrative, every answer says who gave it, and what nobody knows is shown as unknown.
"""

from unseen.cards.auditing import CardAudit, audit_card
from unseen.cards.card import Card, Entry
from unseen.cards.card_file import write_card
from unseen.cards.coverage import Coverage, coverage
from unseen.cards.document import Document
from unseen.cards.fields import Field, fields
from unseen.cards.gate import slices_of, undocumented
from unseen.cards.measuring import Measured, measure_card
from unseen.cards.reading import read_document
from unseen.cards.survey import Surveyed, survey

__all__ = [
    "Card",
    "CardAudit",
    "Coverage",
    "Document",
    "Entry",
    "Field",
    "Measured",
    "Surveyed",
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
