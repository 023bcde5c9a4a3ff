"""Everything that can be said about a card: coverage, structure, declared against measured, and the gate.

A difference between what a card declares and what was measured is a finding, whoever is right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from unseen.cards.card import Card, Entry
from unseen.cards.coverage import Coverage, coverage, social_gate, undocumented
from unseen.cards.documents import Document
from unseen.cards.facts import Measured, scripts_of
from unseen.cards.lint import lint
from unseen.cards.personal_data import HARMLESS, Scan
from unseen.types import Dataset, Finding, Measurement, some
from unseen.types.numbers import bounds, number, percent, points

COMPARED = ("n_items", "splits", "n_classes", "class_counts", "label_names", "checksum")
WHICH = "find out which is right; a card that is written keeps the measured value and names the other"
OTHER_FILE = "this is not the file that the card describes: take the right file, or write the card anew"
STRANGE = 0.5
"""Share of letters in other scripts from which on a declared language is doubted."""
SHOWN = 10
"""Ids that a finding gives as evidence."""
LOW = 0.667
"""Alpha under which Krippendorff (2004) advises against conclusions."""


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
        return all(finding.level != "fail" for finding in self.findings)


def audit_card(
    document: Document, data: Dataset | None = None, measured: Measured | None = None, *, strict: bool = False
) -> CardAudit:
    """Judge a card; with `data` and what was `measured` of it, its numbers too.

    `strict` makes it a failure when a required social field is open.
    """
    card, measurements, of_numbers = document.card, list[Measurement](), list[Finding]()
    if data is not None and measured is not None:
        of_numbers = [*_declared_findings(card, measured.entries, data), *_measured_findings(measured)]
        card = merged(card, measured.entries)
        measurements += measured.measurements
    findings = (*lint(replace(document, card=card)), *of_numbers, social_gate(card, strict))
    covered = coverage(card)
    measurements += [row for group in covered.values() for row in group.measurements()]
    lacking = tuple(about.id for about in undocumented(card))
    return CardAudit(card, covered, findings, tuple(measurements), lacking)


def merged(card: Card, measured: Mapping[str, Entry]) -> Card:
    """The card with what was measured; a declared value that differs stays as evidence, what people said as it is."""
    entries = {}
    for name, entry in measured.items():
        before = card[name]
        if before.role == "tool" or not before.known:
            entries[name] = entry
        elif name == "personal_sensitive_info":
            entries[name] = _with_scan(before, entry)
        elif before.value != entry.value:
            declared = f"declared: {before.value}" + (f" ({before.source})" if before.source else "")
            entries[name] = replace(entry, evidence=(declared,))
        else:
            entries[name] = replace(entry, evidence=(f"as declared ({before.source})",) if before.source else ())
    return card.filled(entries)


def _with_scan(before: Entry, scan: Entry) -> Entry:
    """What people wrote about personal data, with the numbers of the scan."""
    written = before.value if isinstance(before.value, Mapping) else {}
    numbers = {name: scan.value[name] for name in ("rate_per_1000", "precision", "not_measured") if name in scan.value}
    method = before.method
    if scan.method not in method:
        method = "; ".join(filter(None, [method, scan.method]))
    return replace(before, value={**scan.value, **written, **numbers}, method=method)


def _declared_findings(card: Card, measured: Mapping[str, Entry], data: Dataset) -> list[Finding]:
    """One finding for each thing that is both declared and measured, and one for the script of the language."""
    findings = []
    for name in COMPARED:
        declared, value = card[name].value, measured[name].value
        if card[name].known and declared is not None and _comparable(name, declared, value):
            findings.append(_comparison(name, declared, value, data))
    if not findings:
        findings.append(Finding("card.declared", "skipped", "the card declares no number that could be compared"))
    return [*findings, _script_finding(card, measured)]


def _comparable(name: str, declared: Any, measured: Any) -> bool:
    """Parts can be compared only where parts were given, checksums only where both are of a file."""
    if name == "splits":
        return list(measured) != ["all"]
    return name != "checksum" or declared.partition(":")[0] == measured.partition(":")[0]


def _comparison(name: str, declared: Any, measured: Any, data: Dataset) -> Finding:
    check = f"card.declared.{name}"
    lists = isinstance(declared, list) and isinstance(measured, list)
    if set(declared) == set(measured) if lists else declared == measured:
        return Finding(check, "ok", f"{name}: as the card says")
    dropped = data.origin.params.get("dropped")
    left_out = sum(dropped.values()) if isinstance(dropped, dict) else 0
    why = f"; {left_out:,} rows were left out when loading" if name == "n_items" and left_out else ""
    message = f"{name}: the card says {_shown(declared)}, measured is {_shown(measured)}{why}"
    if name == "checksum":
        return Finding(check, "fail", message, 1, advice=OTHER_FILE)
    return Finding(check, "warn", message, 1, advice=WHICH)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return some([f"{name} {count:,}" for name, count in value.items()], 6)
    return f"{value:,}" if isinstance(value, int) else some(value, 6) if isinstance(value, list) else str(value)


def _script_finding(card: Card, measured: Mapping[str, Entry]) -> Finding:
    check, languages = "card.declared.language", card["language"].value
    if not languages or "scripts" not in measured:
        return Finding(check, "skipped", "no language is declared, or the texts hold no letter")
    expected, shares = scripts_of(languages), measured["scripts"].value
    strange = sum(share for script, share in shares.items() if script not in expected)
    message = f"{percent(strange, 1)} of letters are in a script other than that of {', '.join(languages)}"
    if strange > STRANGE:
        return Finding(check, "warn", message, 1, advice="check the declared language; a script is not a language")
    return Finding(check, "ok", f"{message}; the language itself was not identified")


def _measured_findings(measured: Measured) -> Iterator[Finding]:
    """Findings on personal data and, where they were given, on the labels of single annotators."""
    yield _personal_finding(measured.personal)
    rows = measured.measurements
    alphas = [row for row in rows if row.metric.startswith("krippendorff_alpha") and row.slice == "all"]
    if alphas:
        yield _agreement_finding(alphas[0])
        yield _groups_finding([row for row in rows if row.metric == "group_effect"])


def _personal_finding(scan: Scan) -> Finding:
    check, n, count = "card.personal_data", len(scan.data), int(scan.any.sum())
    beside = f"; {scan.masked:,} hold a placeholder for a user name that was taken out" if scan.masked else ""
    beside += "; names were not looked for"
    if not count:
        return Finding(check, "ok", f"no personal data of a known form in {n:,} texts{beside}")
    counts = {name: int(mask.sum()) for name, mask in scan.rows.items() if name not in HARMLESS}
    categories = ", ".join(f"{name} {own:,}" for name, own in counts.items() if own)
    return Finding(
        check,
        "warn",
        f"{count:,} of {n:,} texts seem to hold personal data: {categories}{beside}",
        count,
        tuple(sorted(scan.data.ids.filter(pa.array(scan.any)).to_pylist())[:SHOWN]),
        "check a sample by hand (unseen data card init … --to-check), then mask or remove what is right",
    )


def _agreement_finding(alpha: Measurement) -> Finding:
    check = "card.agreement"
    if alpha.value is None:
        return Finding(check, "skipped", "no item has two answers, or all answers are the same")
    value = " ".join(filter(None, [number(alpha.value), bounds(alpha)]))
    message = f"Krippendorff's alpha of the annotators is {value} over {alpha.n:,} items"
    if alpha.value >= LOW:
        return Finding(check, "ok", message)
    return Finding(check, "warn", message, 1, advice="labels on which people disagree limit what any score can mean")


def _groups_finding(effects: list[Measurement]) -> Finding:
    check, known = "card.annotator_groups", [row for row in effects if row.value is not None]
    if not known:
        return Finding(check, "skipped", "no groups of annotators were given, or no item was labelled by two of them")
    apart = [row for row in known if float(row.tags["p_holm"]) < 0.05]
    if not apart:
        return Finding(check, "ok", f"no pair of groups differs beyond chance in any label ({len(known)} compared)")
    differences = "; ".join(
        f"{row.tags['first']} gives {row.tags['label']} {points(abs(row.value or 0))} points "
        f"{'more' if (row.value or 0) > 0 else 'less'} often than {row.tags['second']} (p = {row.tags['p_holm']:.2g})"
        for row in apart[:3]
    )
    return Finding(
        check, "warn", f"groups of annotators label differently: {differences}", len(apart),
        advice="say who labelled (annotator_demographics) and score by group; the majority vote hides the smaller one",
    )  # fmt: skip
