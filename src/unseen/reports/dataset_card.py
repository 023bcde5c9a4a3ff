"""A card as Markdown: the social part first and shown even where nobody has answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from unseen.cards.audit import CardAudit, required
from unseen.cards.card import CardField, Entry, fields
from unseen.reports.formats import escaped

ORDER = ("social", "descriptive", "administrative")
TITLES = {
    "social": "Social impact: who is in the data, who labelled it, whom it may hurt",
    "descriptive": "What the data is",
    "administrative": "Rights, versions, responsibility",
}


def as_markdown(audit: CardAudit) -> str:
    """The card with its coverage and findings; everything that comes from outside is escaped."""
    lines = [f"# Dataset card: {escaped(audit.card.name)}", ""]
    if audit.undocumented:
        lines += [f"**Not documented:** {', '.join(map(escaped, audit.undocumented))}", ""]
    lines += ["| group | required | answered | substantive |", "|---|---:|---:|---:|"]
    lines += [f"| {row.group} | {row.required} | {row.filled} | {row.substantive} |" for row in audit.coverage.values()]
    asked = {row.id for row in required(audit.card)}
    for group in ORDER:
        lines += ["", f"## {TITLES[group]}", ""]
        for about in (row for row in fields().values() if row.group == group):
            if about.id in asked or audit.card[about.id].known:
                lines += _answer(about, audit.card[about.id])
    if audit.card.unplaced:
        lines += ["", "## Said in the document, not yet in a field", ""]
        lines += [f"- {escaped(title)}: {escaped(text)}" for title, text in audit.card.unplaced.items()]
    lines += ["", "## Findings", "", "| level | check | what | what to do |", "|---|---|---|---|"]
    lines += [
        f"| {row.level} | {escaped(row.check)} | {escaped(row.message)} | {escaped(row.advice)} |"
        for row in audit.findings
    ]
    return "\n".join(lines) + "\n"


def _answer(about: CardField, entry: Entry) -> Iterator[str]:
    name = escaped(about.id)
    if not entry.known:
        yield f"- {name}: **unknown**. To write: {escaped(about.write)} (by {' or '.join(about.who)})"
        return
    where = _provenance(entry)
    if entry.status == "not_applicable":
        yield f"- {name}: does not apply: {escaped(entry.method)} {where}"
    elif isinstance(entry.value, Mapping):
        yield f"- {name} {where}"
        yield from (f"  - {escaped(part)}: {_flat(value)}" for part, value in entry.value.items())
    else:
        yield f"- {name}: {_flat(entry.value)} {where}"
    yield from (f"  - {escaped(line)}" for line in entry.evidence)


def _flat(value: Any) -> str:
    """A value in one line: parts of lists and objects one after another."""
    if isinstance(value, Mapping):
        return ", ".join(f"{escaped(name)} {_flat(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "; ".join(_flat(part) for part in value) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    return escaped(f"{value:.4g}" if isinstance(value, float) else value)


def _provenance(entry: Entry) -> str:
    method = "" if entry.status == "not_applicable" else entry.method
    sources = [entry.status, entry.role or "", entry.by, entry.date, entry.source, method]
    return f"({', '.join(escaped(source) for source in sources if source)})"
