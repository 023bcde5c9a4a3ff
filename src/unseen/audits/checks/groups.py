"""What ties test rows to training rows besides their texts: who wrote them, where, after which pattern."""

from __future__ import annotations

import numpy as np

from unseen.audits.checks.judging import Found, examples, leaking, portion, shared, skipped
from unseen.audits.leaks import leak
from unseen.audits.subject import BY_ID, Subject
from unseen.data.groups import NONE, group_codes
from unseen.types import Finding

SAYS = {
    "author": "are by authors who also wrote training texts",
    "conversation": "are from conversations that are also in the training part",
    "template": "are made from templates that are also in the training part",
    "partner": "have their contrast partner in the training part",
    "source": "are from sources that are also in the training part",
}


def author(subject: Subject) -> Found:
    """Authors on both sides: a model may know them and not what they say."""
    return _both_sides(subject, "author")


def conversation(subject: Subject) -> Found:
    """Conversations on both sides."""
    return _both_sides(subject, "conversation")


def template(subject: Subject) -> Found:
    """Templates on both sides."""
    return _both_sides(subject, "template")


def partner(subject: Subject) -> Found:
    """Test cases whose contrast partner is trained on."""
    return _both_sides(subject, "partner")


def source(subject: Subject) -> Found:
    """Sources on both sides; usual, and a limit to what a score says of other sources."""
    return _both_sides(subject, "source")


def _both_sides(subject: Subject, role: str) -> Found:
    if role not in subject.columns:
        return skipped(role, f"No attribute says the {role} of a text.")
    if subject.split is None:
        return skipped(role, f"Without a split, no {role} is on both sides.")
    codes = group_codes(subject.data, subject.columns[role], links=role in BY_ID)
    named = codes != NONE
    known = subject.test[named[subject.test]]
    if not len(known) or not named[subject.train].any():
        return skipped(role, f"No {role} is known on one side of the split.")
    if role in BY_ID and len(np.unique(codes[named])) == named.sum():
        return skipped(role, f"No value of {subject.columns[role]!r} is the id of another row, or on two rows.")
    found = leak(subject, role)
    assert found is not None
    n, unknown = len(known), len(subject.test) - len(known)
    share, tied = len(found) / n, len(np.unique(codes[found.test]))
    level = leaking(share) if role != "source" else "ok" if share == 0 else "warn"
    if level == "ok" and unknown > n:
        level = "warn"
    said = f"{portion(len(found), n, 'test texts')} {SAYS[role]}; {tied:,} {role}s are on both sides."
    if unknown:
        said += f" Of {unknown:,} further test texts no {role} is known."
    advice = "" if level == "ok" else _advice(subject, role)
    row = shared(subject, f"leaked.{role}", len(found), n, groups=tied, unknown=unknown)
    return [row], [Finding(role, level, said, len(found), examples(subject, found.test), advice)]


def _advice(subject: Subject, role: str) -> str:
    if role == "source":
        return "The score holds for these sources. unseen split --with attribute holds one out."
    named = f"--{role} {subject.columns[role]}"
    return (
        f"unseen repair --groups {subject.columns[role]} {named} makes a split without them; unseen price {named} says "
        "their worth."
    )
