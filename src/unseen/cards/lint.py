"""What is wrong with how a card is made up, as findings; whether its answers are true is another question."""

from __future__ import annotations

import re

from unseen.cards.card import Card
from unseen.cards.documents import Document
from unseen.cards.fields import fields
from unseen.cards.prose import NOT_CONFIRMED, WORD
from unseen.types import Finding, some

LIMITATIONS = ("limitations_technical", "limitations_contextual")
IMPACTS = ("impact_positive", "impact_functional", "impact_negative")
CREATION = "dataset creation"
LICENCES = re.compile(
    r"(?:mit|apache-2\.0|bsd-[23]-clause|isc|unlicense|pddl|odbl(?:-1\.0)?|odc-by(?:-1\.0)?|cc0-1\.0|cc-by(?:-nc)?(?:-sa|-nd)?"
    r"-[1-4]\.[05](?:-[a-z]{2,3})?|(?:a|l)?gpl-[23]\.0(?:-only|-or-later)?|mpl-2\.0|epl-2\.0|cdla-[a-z]+-[12]\.0"
    r"|afl-3\.0|artistic-2\.0|wtfpl|zlib|openrail|c-uda)"
)


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
