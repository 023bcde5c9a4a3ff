"""What is wrong with how a card is made up, as findings; whether its answers are true is another question."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unseen.cards.card import Card
from unseen.cards.document import Document
from unseen.cards.fields import fields
from unseen.cards.missing import WORD
from unseen.cards.statements import NOT_CONFIRMED
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
        _left_as_they_came(document),
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


def _place_of_personal_information(document: Document) -> Finding:
    check = "card.personal_information_place"
    if not document.items:
        return Finding(check, "skipped", "the card is not a page with sections")
    own = [item for item in document.items if item.field == "personal_sensitive_info"]
    if not own:
        return Finding(check, "skipped", "the page has no section on personal information")
    if any(CREATION in item.above for item in own):
        return Finding(
            check, "warn", "personal information is filed under the creation of the dataset", 1,
            advice="move it to the social part: it can only be known from a review after collection",
        )  # fmt: skip
    return Finding(check, "ok", "personal information has a place of its own")


def _left_as_they_came(document: Document) -> Finding:
    check, missing = "card.sections", document.missing
    if not document.items:
        return Finding(check, "skipped", "the card is not a page with sections")
    parents = {item.within for item in document.items}
    empty = {title: why for title, why in missing.items() if not (why == "empty" and title in parents)}
    if not empty:
        return Finding(check, "ok", "every section says something")
    told = "; ".join(f"{title} ({why})" for title, why in list(empty.items())[:5])
    return Finding(
        check, "warn", f"{len(empty)} of {len(document.items)} sections say nothing: {told}", len(empty),
        advice="write what is known; what nobody knows is unknown, not a placeholder",
    )  # fmt: skip


def _curator(card: Card) -> Finding:
    check, named = "card.curator", card["curator_name"].value
    if not named:
        return Finding(check, "warn", "nobody is named as curator", 1, advice=fields()["curator_name"].write)
    creators = card["creators"].value
    if not creators:
        return Finding(check, "skipped", "the creators are not known, so the curator cannot be told from them")
    made = " | ".join(map(_folded, creators))
    both = [name for name in named if re.search(rf"(?<!\w){re.escape(_folded(name))}(?!\w)", made)]
    if both:
        return Finding(
            check, "warn", f"the curator is a creator as well: {some(both)}", len(both),
            advice="name somebody who did not make the dataset",
        )  # fmt: skip
    return Finding(check, "ok", "the curator is not a creator")


def _folded(name: str) -> str:
    return " ".join(WORD.findall(name.casefold()))


def _impacts(card: Card) -> Finding:
    check, known = "card.impact", [name for name in IMPACTS if card[name].known]
    if known == ["impact_positive"]:
        return Finding(
            check, "warn", "the card names only good its use may do", 1,
            advice="say whom it may hurt (impact_negative), or who looked and found nobody",
        )  # fmt: skip
    if "impact_negative" in known:
        return Finding(check, "ok", f"the card speaks of harm: {', '.join(known)}")
    return Finding(
        check, "warn", f"the card does not say whom its use may hurt (it has {', '.join(known) or 'no impact'})", 1,
        advice=fields()["impact_negative"].write,
    )  # fmt: skip


def _limitations(card: Card) -> Finding:
    check, lacking = "card.limitations", [name for name in LIMITATIONS if not card[name].known]
    if not lacking:
        return Finding(check, "ok", "technical and contextual limitations are told apart")
    return Finding(
        check, "warn", f"the card names no {' and no '.join(name.split('_')[1] for name in lacking)} limitation",
        len(lacking), advice="; ".join(f"{name}: {fields()[name].write}" for name in lacking),
    )  # fmt: skip


def _to_confirm(card: Card) -> Finding:
    check = "card.to_confirm"
    sorted_by_rule = [name for name, entry in card.entries.items() if entry.method == NOT_CONFIRMED]
    if not sorted_by_rule:
        return Finding(check, "ok", "no statement was sorted by rule alone")
    return Finding(
        check, "warn", f"statements were sorted by a list of cues and wait for a person: {', '.join(sorted_by_rule)}",
        len(sorted_by_rule), advice="read them, move what is wrong, and say who confirmed it as method",
    )  # fmt: skip


def _assessed(card: Card) -> Finding:
    check, entry = "card.personal_information_assessed", card["personal_sensitive_info"]
    if not entry.known:
        return Finding(check, "warn", "nobody has looked for personal information", 1, advice="unseen card init scans")
    if entry.status == "not_applicable" or (entry.value or {}).get("assessed_after_collection"):
        return Finding(check, "ok", "personal information was assessed after collection")
    return Finding(
        check, "warn", "personal information was declared or scanned, but no curator has assessed it", 1,
        advice="check the sample by hand, then set assessed_after_collection",
    )  # fmt: skip


def _demographics(card: Card) -> Finding:
    check, names = "card.demographics", ("data_demographics", "annotator_demographics")
    bare = [name for name in names if card[name].status not in ("unknown", "not_applicable") and _baseless(card, name)]
    if bare:
        return Finding(
            check, "warn", f"{', '.join(bare)}: no shares, or not said where they come from", len(bare),
            advice="give attributes and basis (self_report or platform_statistics); never guess them per person",
        )  # fmt: skip
    if not any(card[name].known for name in names):
        return Finding(check, "skipped", "neither producers nor annotators are described")
    return Finding(check, "ok", "demographics say where they come from")


def _baseless(card: Card, name: str) -> bool:
    value = card[name].value
    return not value.get("attributes") or value.get("basis", "unknown") == "unknown"


def _roles(card: Card) -> Finding:
    check = "card.roles"
    wrong = list(_wrong_roles(card))
    if not wrong:
        return Finding(check, "ok", "every answer comes from somebody who may give it")
    return Finding(
        check, "warn", f"{len(wrong)} answers come from a role that cannot know: {'; '.join(wrong)}", len(wrong),
        advice="have those who may fill a field confirm it",
    )  # fmt: skip


def _wrong_roles(card: Card) -> Iterator[str]:
    for name, about in fields().items():
        role = card[name].role
        if card[name].known and role is not None and role not in about.who and about.who != ("tool",):
            yield f"{name} by {role}, not {' or '.join(about.who)}"


def _licence(card: Card) -> Finding:
    check, told = "card.licence", card["licence"].value
    if told is None:
        return Finding(check, "warn", "no licence is given", 1, advice=fields()["licence"].write)
    if LICENCES.fullmatch("-".join(told.casefold().replace("_", "-").split())):
        return Finding(check, "ok", f"the licence is {told}")
    return Finding(
        check, "warn", "the licence is not a known identifier", 1, advice="give the SPDX identifier, e.g. CC-BY-4.0"
    )


def _unplaced(card: Card) -> Finding:
    check = "card.unplaced"
    if not card.unplaced:
        return Finding(check, "ok", "everything the document says has a field")
    return Finding(
        check, "warn", f"{len(card.unplaced)} parts have no field yet: {some(card.unplaced, 8)}", len(card.unplaced),
        advice="move what they say into fields by hand",
    )  # fmt: skip
