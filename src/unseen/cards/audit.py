"""Everything that can be said about a card: coverage, structure, declared against measured, and the gate.

Coverage is how much is answered, group by group, and what is left open about people; there is no overall grade on
purpose. Structure is how a card is made up; whether its answers are true is another question. A difference between
what a card declares and what was measured is a finding, whoever is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from unseen.cards.card import GROUPS, Card, CardField, Entry, fields
from unseen.cards.documents import NOT_CONFIRMED, WORD, Document, is_substantial
from unseen.cards.facts import Measured, scripts_of
from unseen.cards.personal_data import HARMLESS, Scan
from unseen.types import Dataset, Finding, Measurement, some
from unseen.types.numbers import bounds, number, percent, points

LIMITATIONS = ("limitations_technical", "limitations_contextual")
IMPACTS = ("impact_positive", "impact_functional", "impact_negative")
CREATION = "dataset creation"
LICENCES = re.compile(
    r"(?:mit|apache-2\.0|bsd-[23]-clause|isc|unlicense|pddl|odbl(?:-1\.0)?|odc-by(?:-1\.0)?|cc0-1\.0|cc-by(?:-nc)?(?:-sa|-nd)?"
    r"-[1-4]\.[05](?:-[a-z]{2,3})?|(?:a|l)?gpl-[23]\.0(?:-only|-or-later)?|mpl-2\.0|epl-2\.0|cdla-[a-z]+-[12]\.0"
    r"|afl-3\.0|artistic-2\.0|wtfpl|zlib|openrail|c-uda)"
)
COMPARED = ("n_items", "splits", "n_classes", "class_counts", "label_names", "checksum")
WHICH = "find out which is right; a card that is written keeps the measured value and names the other"
OTHER_FILE = "this is not the file that the card describes: take the right file, or write the card anew"
STRANGE = 0.5
"""Share of letters in other scripts from which on a declared language is doubted."""
LOW = 0.667
"""Alpha under which Krippendorff (2004) advises against conclusions."""
SHOWN = 10
"""Ids that a finding gives as evidence."""


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
    groups = {}
    for group in GROUPS:
        asked = [about for about in required(card) if about.group == group]
        answered = [about for about in asked if card[about.id].known]
        substantive = [about for about in answered if _is_substantive(about, card[about.id])]
        groups[group] = Coverage(group, len(asked), len(answered), len(substantive))
    return groups


def required(card: Card) -> list[CardField]:
    """Fields that this card must answer; the evidence of label bias only where annotators are known one by one."""
    annotated = card["label_bias_evidence"].known
    return [about for about in fields().values() if about.required is True or (about.required and annotated)]


def _is_substantive(about: CardField, entry: Entry) -> bool:
    """Whether an answer is more than a token one."""
    if entry.status == "not_applicable":
        return is_substantial(entry.method)
    if about.short or about.kind in ("number", "counts", "numbers", "names", "languages", "checksum"):
        return entry.value not in (None, "", [], {})
    leaves = list(_leaves(entry.value))
    return any(isinstance(leaf, float | int) for leaf in leaves) or is_substantial(
        " ".join(leaf for leaf in leaves if isinstance(leaf, str))
    )


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(part)
    elif value is not None and not isinstance(value, bool):
        yield value


def undocumented(card: Card) -> list[CardField]:
    """Required social fields that nobody has answered: they are named at the top of its readable card."""
    return [about for about in required(card) if about.group == "social" and not card[about.id].known]


def social_gate(card: Card, strict: bool = False) -> Finding:
    """Whether the social part is answered; a failure only when `strict`."""
    lacking = undocumented(card)
    if not lacking:
        return Finding("card.social", "ok", "every required social field is answered")
    names = ", ".join(about.id for about in lacking)
    asked = sum(about.group == "social" for about in required(card))
    return Finding(
        "card.social",
        "fail" if strict else "warn",
        f"{len(lacking)} of {asked} required social fields are not documented: {names}",
        len(lacking),
        advice="have the curator answer them, or write not_applicable with the reason",
    )


def slices_of(card: Card) -> dict[str, tuple[str, ...]]:
    """Slices that the card names, as values by attribute.

    Groups at risk come under the field that names them; demographics under their attribute, but only where shares were
    reported. They are names: whether the data has such an attribute or a list of terms for it is for the caller.
    """
    slices: dict[str, dict[str, None]] = {}
    for field in ("exclusion_risk", "overgeneralisation_risk"):
        for risk in card[field].value or ():
            slices.setdefault(field, {})[risk["group"]] = None
    for field in ("data_demographics", "annotator_demographics"):
        for attribute, shares in (card[field].value or {}).get("attributes", {}).items():
            slices.setdefault(attribute, {}).update(dict.fromkeys(shares))
    return {attribute: tuple(values) for attribute, values in slices.items()}


def lint(document: Document) -> list[Finding]:
    """Everything that can be seen from the document alone."""
    card = document.card
    return [
        _place_of_personal_information(document),
        _sections(document),
        _curator(card),
        _impacts(card),
        _limitations(card),
        _to_confirm(card),
        _assessed(card),
        _demographics(card),
        _roles(card),
        _licence(card),
        _unplaced(card),
    ]


def _warn(check: str, message: str, advice: str, count: int = 1) -> Finding:
    return Finding(check, "warn", message, count, advice=advice)


def _place_of_personal_information(document: Document) -> Finding:
    check = "card.personal_information_place"
    if not document.items:
        return Finding(check, "skipped", "the card is not a page with sections")
    sections = [item for item in document.items if item.field == "personal_sensitive_info"]
    if not sections:
        return Finding(check, "skipped", "the page has no section on personal information")
    if any(CREATION in item.above for item in sections):
        advice = "move it to the social part: it can only be known from a review after collection"
        return _warn(check, "personal information is filed under the creation of the dataset", advice)
    return Finding(check, "ok", "personal information has a place of its own")


def _sections(document: Document) -> Finding:
    check, missing = "card.sections", document.missing
    if not document.items:
        return Finding(check, "skipped", "the card is not a page with sections")
    parents = {item.within for item in document.items}
    idle = [f"{title} ({why})" for title, why in missing.items() if not (why == "empty" and title in parents)]
    if not idle:
        return Finding(check, "ok", "every section says something")
    message = f"{len(idle)} of {len(document.items)} sections say nothing: {'; '.join(idle[:5])}"
    return _warn(check, message, "write what is known; what nobody knows is unknown, not a placeholder", len(idle))


def _curator(card: Card) -> Finding:
    check, curators, creators = "card.curator", card["curator_name"].value, card["creators"].value
    if not curators:
        return _warn(check, "nobody is named as curator", fields()["curator_name"].write)
    if not creators:
        return Finding(check, "skipped", "the creators are not known, so the curator cannot be told from them")
    made_by = " | ".join(map(_folded, creators))
    both = [name for name in curators if re.search(rf"(?<!\w){re.escape(_folded(name))}(?!\w)", made_by)]
    if both:
        message = f"the curator is a creator as well: {some(both)}"
        return _warn(check, message, "name somebody who did not make the dataset", len(both))
    return Finding(check, "ok", "the curator is not a creator")


def _folded(name: str) -> str:
    return " ".join(WORD.findall(name.casefold()))


def _impacts(card: Card) -> Finding:
    check, known = "card.impact", [name for name in IMPACTS if card[name].known]
    if known == ["impact_positive"]:
        advice = "say whom it may hurt (impact_negative), or who looked and found nobody"
        return _warn(check, "the card names only good its use may do", advice)
    if "impact_negative" in known:
        return Finding(check, "ok", f"the card speaks of harm: {', '.join(known)}")
    message = f"the card does not say whom its use may hurt (it has {', '.join(known) or 'no impact'})"
    return _warn(check, message, fields()["impact_negative"].write)


def _limitations(card: Card) -> Finding:
    check, lacking = "card.limitations", [name for name in LIMITATIONS if not card[name].known]
    if not lacking:
        return Finding(check, "ok", "technical and contextual limitations are told apart")
    message = f"the card names no {' and no '.join(name.split('_')[1] for name in lacking)} limitation"
    return _warn(check, message, "; ".join(f"{name}: {fields()[name].write}" for name in lacking), len(lacking))


def _to_confirm(card: Card) -> Finding:
    check = "card.to_confirm"
    proposed = [name for name, entry in card.entries.items() if entry.method == NOT_CONFIRMED]
    if not proposed:
        return Finding(check, "ok", "no statement was sorted by rule alone")
    message = f"statements were sorted by a list of cues and wait for a person: {', '.join(proposed)}"
    return _warn(check, message, "read them, move what is wrong, and say who confirmed it as method", len(proposed))


def _assessed(card: Card) -> Finding:
    check, entry = "card.personal_information_assessed", card["personal_sensitive_info"]
    if not entry.known:
        return _warn(check, "nobody has looked for personal information", "unseen data card init scans")
    if entry.status == "not_applicable" or (entry.value or {}).get("assessed_after_collection"):
        return Finding(check, "ok", "personal information was assessed after collection")
    message = "personal information was declared or scanned, but no curator has assessed it"
    return _warn(check, message, "check the sample by hand, then set assessed_after_collection")


def _demographics(card: Card) -> Finding:
    check, names = "card.demographics", ("data_demographics", "annotator_demographics")
    described = {name: card[name].value for name in names if card[name].status not in ("unknown", "not_applicable")}
    baseless = [
        name
        for name, value in described.items()
        if not value.get("attributes") or value.get("basis", "unknown") == "unknown"
    ]
    if baseless:
        message = f"{', '.join(baseless)}: no shares, or not said where they come from"
        advice = "give attributes and basis (self_report or platform_statistics); never guess them per person"
        return _warn(check, message, advice, len(baseless))
    if not any(card[name].known for name in names):
        return Finding(check, "skipped", "neither producers nor annotators are described")
    return Finding(check, "ok", "demographics say where they come from")


def _roles(card: Card) -> Finding:
    check, wrong = "card.roles", []
    for name, about in fields().items():
        role = card[name].role
        if card[name].known and role is not None and role not in about.who and about.who != ("tool",):
            wrong.append(f"{name} by {role}, not {' or '.join(about.who)}")
    if not wrong:
        return Finding(check, "ok", "every answer comes from somebody who may give it")
    message = f"{len(wrong)} answers come from a role that cannot know: {'; '.join(wrong)}"
    return _warn(check, message, "have those who may fill a field confirm it", len(wrong))


def _licence(card: Card) -> Finding:
    check, licence = "card.licence", card["licence"].value
    if licence is None:
        return _warn(check, "no licence is given", fields()["licence"].write)
    if LICENCES.fullmatch("-".join(licence.casefold().replace("_", "-").split())):
        return Finding(check, "ok", f"the licence is {licence}")
    return _warn(check, "the licence is not a known identifier", "give the SPDX identifier, e.g. CC-BY-4.0")


def _unplaced(card: Card) -> Finding:
    check, count = "card.unplaced", len(card.unplaced)
    if not count:
        return Finding(check, "ok", "everything the document says has a field")
    message = f"{count} parts have no field yet: {some(card.unplaced, 8)}"
    return _warn(check, message, "move what they say into fields by hand", count)


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
