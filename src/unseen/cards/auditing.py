"""Everything that can be said about a card: coverage, structure, declared against measured, and the gate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unseen.cards.card import Card
from unseen.cards.coverage import Coverage, coverage
from unseen.cards.declared import compare_declared, merged
from unseen.cards.document import Document
from unseen.cards.gate import gate, undocumented
from unseen.cards.judging import judged
from unseen.cards.lint import lint
from unseen.cards.measuring import Measured
from unseen.types import Dataset, Finding, Measurement


@dataclass(frozen=True)
class CardAudit:
    """What an audit of a card found."""

    card: Card
    """With what was measured, where data was given."""
    coverage: dict[str, Coverage]
    """By group; the three numbers stand side by side, there is no grade."""
    findings: tuple[Finding, ...]
    measurements: tuple[Measurement, ...]
    undocumented: tuple[str, ...]
    """Required social fields that nobody has answered."""

    @property
    def passed(self) -> bool:
        """Whether no finding is a failure."""
        return all(each.level != "fail" for each in self.findings)


def audit_card(
    document: Document, data: Dataset | None = None, measured: Measured | None = None, *, strict: bool = False
) -> CardAudit:
    """Judge a card; with `data` and what was `measured` of it, its numbers too.

    `strict` makes it a failure when a required social field is open.
    """
    card, rows = document.card, list[Measurement]()
    compared = list[Finding]()
    if data is not None and measured is not None:
        compared = [*compare_declared(card, measured.entries, data), *judged(measured)]
        card = merged(card, measured.entries)
        rows += measured.measurements
    findings = [*lint(replace(document, card=card)), *compared, gate(card, strict)]
    covered = coverage(card)
    rows += [row for each in covered.values() for row in each.measurements()]
    lacking = tuple(each.id for each in undocumented(card))
    return CardAudit(card, covered, tuple(findings), tuple(rows), lacking)
