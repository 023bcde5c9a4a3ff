"""What ties test rows to training rows besides their texts: who wrote them, where, after which pattern, and when."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.authors import author_findings, concentration, know_the_author
from unseen.audits.findings import CheckResult, leak_level, skipped
from unseen.audits.subject import BY_ID, Subject, leak
from unseen.data.groups import NONE, group_codes
from unseen.errors import InputError
from unseen.evaluation.measurements import share
from unseen.splits.time import moments
from unseen.types import Finding
from unseen.types.arrays import Floats, Mask
from unseen.types.numbers import portion

SAYS = {
    "author": "are by authors who also wrote training texts",
    "conversation": "are from conversations that are also in the training part",
    "template": "are made from templates that are also in the training part",
    "partner": "have their contrast partner in the training part",
    "source": "are from sources that are also in the training part",
}


def author(subject: Subject) -> CheckResult:
    """Authors on both sides: a model may know them and not what they say."""
    return _both_sides(subject, "author")


def conversation(subject: Subject) -> CheckResult:
    """Conversations on both sides."""
    return _both_sides(subject, "conversation")


def template(subject: Subject) -> CheckResult:
    """Templates on both sides."""
    return _both_sides(subject, "template")


def partner(subject: Subject) -> CheckResult:
    """Test cases whose contrast partner is trained on."""
    return _both_sides(subject, "partner")


def source(subject: Subject) -> CheckResult:
    """Sources on both sides; usual, and a limit to what a score says of other sources."""
    return _both_sides(subject, "source")


def _both_sides(subject: Subject, role: str) -> CheckResult:
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
        nothing = f"No value of {subject.columns[role]!r} is the id of another row, or on two rows."
        return skipped(role, f"{nothing} If its values are ids, name the column of the ids: --id.")
    leaked = leak(subject, role)
    assert leaked is not None
    n, unknown = len(known), len(subject.test) - len(known)
    tied = len(np.unique(codes[leaked.test]))
    level = leak_level(len(leaked) / n)
    if (level == "ok" and unknown > n) or (level == "fail" and role == "source"):
        level = "warn"
    message = f"{portion(len(leaked), n, 'test texts')} {SAYS[role]}; {tied:,} {role}s are on both sides."
    if unknown:
        message += f" Of {unknown:,} further test texts no {role} is known."
    advice = "" if level == "ok" else _advice(subject, role)
    row = share(f"leaked.{role}", len(leaked), n, subject.tags() | {"groups": tied, "unknown": unknown})
    return [row], [Finding(role, level, message, len(leaked), subject.evidence(leaked.test), advice)]


def _advice(subject: Subject, role: str) -> str:
    if role == "source":
        return "The score holds for these sources. unseen split make --with attribute holds one out."
    named = f"--{role} {subject.columns[role]}"
    return (
        f"{subject.command('split repair', f'--groups {subject.columns[role]} {named}')} makes a split without them; "
        f"{subject.command('audit price', named)} says their worth."
    )


def author_concentration(subject: Subject) -> CheckResult:
    """Gini and top shares of the authors of each class, and what knowing the author alone would score."""
    if "author" not in subject.columns:
        return skipped("author_concentration", "No attribute says the author of a text.")
    attribute = subject.columns["author"]
    rows = concentration(subject.data, attribute) + know_the_author(subject.data, subject.split, attribute)
    return rows, author_findings(rows)


def time_order(subject: Subject) -> CheckResult:
    """Test texts that are older than the newest training text: deployment will have none of them."""
    if "time" not in subject.columns:
        return skipped("time_order", "No attribute says when a text was written.")
    if subject.split is None:
        return skipped("time_order", "Without a split, there is no before and after.")
    attribute = subject.columns["time"]
    try:
        when, known = _moments(subject.data.attribute(attribute))
    except InputError as cause:
        return skipped("time_order", f"{attribute!r} holds no times: {cause.message}, {cause.expected}.")
    test, train = subject.test[known[subject.test]], subject.train[known[subject.train]]
    if not len(test) or not len(train):
        return skipped("time_order", f"The attribute {attribute!r} is missing on one side.")
    older = test[when[test] < when[train].max()]
    message = f"{portion(len(older), len(test), 'test texts')} are older than the newest training text."
    unknown = len(subject.test) + len(subject.train) - len(test) - len(train)
    if unknown:
        message += f" {unknown:,} rows have no time."
    row = share("older_than_training", len(older), len(test), subject.tags())
    if not len(older):
        return [row], [Finding("time_order", "ok", message)]
    advice = "A model in use meets later texts only: unseen split make --with time tests on the newest."
    return [row], [Finding("time_order", "warn", message, len(older), subject.evidence(older), advice)]


def _moments(times: pa.ChunkedArray) -> tuple[Floats, Mask]:
    """Times as numbers, and which rows have one; refuses text that is no ISO 8601."""
    known = pc.is_valid(times).to_numpy()
    present = times.filter(pa.array(known)).combine_chunks()
    plain = (
        pa.types.is_temporal(present.type) or pa.types.is_integer(present.type) or pa.types.is_floating(present.type)
    )
    values = present.to_numpy(zero_copy_only=False) if plain else np.asarray(present.to_pylist(), dtype=object)
    numbers = np.zeros(len(known))
    numbers[known] = moments(values)
    return numbers, known
