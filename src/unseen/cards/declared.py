"""What a card declares beside what was measured: a difference is a finding, whoever is right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from unseen.cards.card import Card, Entry
from unseen.cards.scripts import scripts_of
from unseen.types import Dataset, Finding, some

COMPARED = ("n_items", "splits", "n_classes", "class_counts", "label_names", "checksum")
WHICH = "find out which is right; a card that is written keeps the measured value and names the other"
ADVICE = {"checksum": "this is not the file that the card describes: take the right file, or write the card anew"}
STRANGE = 0.5
"""Share of letters in other scripts from which on a declared language is doubted."""


def compare_declared(card: Card, measured: Mapping[str, Entry], data: Dataset) -> list[Finding]:
    """One finding for each thing that is both declared and measured, and one for the script of the language."""
    findings = []
    for name in COMPARED:
        entry = card[name]
        if entry.known and entry.value is not None and _comparable(name, entry.value, measured[name].value):
            findings.append(_compared(name, entry.value, measured[name].value, data))
    if not findings:
        findings.append(Finding("card.declared", "skipped", "the card declares no number that could be compared"))
    return [*findings, _script(card, measured)]


def merged(card: Card, measured: Mapping[str, Entry]) -> Card:
    """The card with what was measured; a declared value that differs stays as evidence, what people said as it is."""
    entries = {}
    for name, entry in measured.items():
        before = card[name]
        if before.role == "tool" or not before.known:
            entries[name] = entry
        elif name == "personal_sensitive_info":
            told = before.value if isinstance(before.value, Mapping) else {}
            entries[name] = replace(
                before, value={**entry.value, **told} | _scanned(entry.value), method=_methods(before, entry)
            )
        elif before.value != entry.value:
            declared = f"declared: {before.value}" + (f" ({before.source})" if before.source else "")
            entries[name] = replace(entry, evidence=(declared,))
        else:
            entries[name] = replace(entry, evidence=(f"as declared ({before.source})",) if before.source else ())
    return card.filled(entries)


def _scanned(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in ("rate_per_1000", "precision", "not_measured") if name in value}


def _methods(before: Entry, measured: Entry) -> str:
    return (
        before.method if measured.method in before.method else "; ".join(filter(None, [before.method, measured.method]))
    )


def _comparable(name: str, told: Any, found: Any) -> bool:
    """Parts can be compared only where parts were given, checksums only where both are of a file."""
    if name == "splits":
        return list(found) != ["all"]
    return name != "checksum" or told.partition(":")[0] == found.partition(":")[0]


def _compared(name: str, told: Any, found: Any, data: Dataset) -> Finding:
    check = f"card.declared.{name}"
    if _same(told, found):
        return Finding(check, "ok", f"{name}: as the card says")
    dropped = data.origin.params.get("dropped")
    left_out = sum(dropped.values()) if isinstance(dropped, dict) else 0
    why = f"; {left_out:,} rows were left out when loading" if name == "n_items" and left_out else ""
    return Finding(
        check, "fail" if name == "checksum" else "warn",
        f"{name}: the card says {_shown(told)}, measured is {_shown(found)}{why}", 1, advice=ADVICE.get(name, WHICH),
    )  # fmt: skip


def _same(told: Any, found: Any) -> bool:
    return set(told) == set(found) if isinstance(told, list) and isinstance(found, list) else bool(told == found)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return some([f"{name} {count:,}" for name, count in value.items()], 6)
    return f"{value:,}" if isinstance(value, int) else some(value, 6) if isinstance(value, list) else str(value)


def _script(card: Card, measured: Mapping[str, Entry]) -> Finding:
    check, languages = "card.declared.language", card["language"].value
    if not languages or "scripts" not in measured:
        return Finding(check, "skipped", "no language is declared, or the texts hold no letter")
    expected, shares = scripts_of(languages), measured["scripts"].value
    strange = sum(share for script, share in shares.items() if script not in expected)
    told = f"{100 * strange:.1f} % of letters are in a script other than that of {', '.join(languages)}"
    if strange > STRANGE:
        return Finding(check, "warn", told, 1, advice="check the declared language; a script is not a language")
    return Finding(check, "ok", f"{told}; the language itself was not identified")
