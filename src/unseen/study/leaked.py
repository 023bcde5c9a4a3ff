"""The leaked rows of a split, by kind and of several kinds together: what is priced."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unseen.audits.leaks import leak
from unseen.audits.subject import BY_ID, GROUPINGS, LIKENESSES, Subject
from unseen.data.groups import NONE, group_codes
from unseen.errors import InputError, UnknownNameError
from unseen.store import atomic
from unseen.store.files import csv_rows, harmless
from unseen.types import Dataset

Mask = npt.NDArray[np.bool_]
KINDS = (*LIKENESSES, *GROUPINGS)
TOGETHER = "all kinds"


@dataclass(frozen=True, eq=False)
class Leaked:
    """The rows of one kind of leak, as masks over the rows of the dataset."""

    kind: str
    test: Mask
    """Test rows with a counterpart in training."""
    train: Mask
    """Their counterparts in train and dev."""
    units: str | None = None
    """Attribute whose values are drawn together in intervals, unless another is asked for."""
    left_out: tuple[str, ...] = ()
    """Of several kinds together: those that are not among them, each with the reason."""


def find_leaks(subject: Subject, kinds: Sequence[str] | None = None) -> list[Leaked]:
    """The leaks of these kinds, and of several the rows of any; by default of all kinds that can be looked for.

    Among several kinds together are none that concern every test row, because nothing would be left to compare with,
    and `source` only where it is named: that two rows are of one source is no leak by itself.
    """
    for kind in kinds or ():
        if kind not in KINDS:
            raise UnknownNameError.of("kind of leak", kind, KINDS)
    _refuse_nameless(subject, kinds or KINDS)
    found = {kind: leak(subject, kind) for kind in dict.fromkeys(kinds or KINDS)}
    blind = [kind for kind, each in found.items() if each is None]
    if kinds and blind:
        raise InputError(
            f"leaks cannot be looked for: {', '.join(blind)}",
            expected="a column for each, e.g. --author COLUMN; vectors for semantic",
        )
    there = [each for each in found.values() if each is not None]
    named = [
        Leaked(each.kind, subject.mask(each.test), subject.mask(each.train), _units(subject, each.kind))
        for each in there
    ]
    return [*named, *_together(subject, [each for each in named if each.test.any()], kinds or ())]


def _refuse_nameless(subject: Subject, kinds: Sequence[str]) -> None:
    """Columns without a value: no leak would be found, and that would say nothing."""
    given = {kind: subject.columns[kind] for kind in kinds if kind in subject.columns}
    empty = [
        f"{attribute!r}, which is to name the {kind} of each row"
        for kind, attribute in given.items()
        if (group_codes(subject.data, attribute) == NONE).all()
    ]
    if empty:
        raise InputError(
            "columns have no value in any row", problems=empty, fix="name other columns, or leave them out"
        )


def _together(subject: Subject, leaks: Sequence[Leaked], named: Sequence[str]) -> list[Leaked]:
    """The rows of any of these kinds, where there are several and none has all of them already."""
    whole = {each.kind: "it concerns every test row" for each in leaks if each.test[subject.test].all()}
    apart = {each.kind: "it was not named" for each in leaks if each.kind == "source" and "source" not in named} | whole
    some = [each for each in leaks if each.kind not in apart]
    if len(some) < 2:
        return []
    test, train = (np.logical_or.reduce([getattr(each, side) for each in some]) for side in ("test", "train"))
    if any((each.test == test).all() and (each.train == train).all() for each in some):
        return []  # the rows of one kind: its price is theirs
    left_out = tuple(f"{kind} ({why})" for kind, why in apart.items())
    return [Leaked(TOGETHER, test, train, _units(subject, TOGETHER), left_out)]


def _units(subject: Subject, kind: str) -> str | None:
    """The attribute of a kind of leak, because its rows leak together; for other kinds that of the authors."""
    own = kind in GROUPINGS and kind not in BY_ID
    return subject.columns.get(kind if own else "author")


def write_leaks(data: Dataset, leaks: Sequence[Leaked], path: Path) -> None:
    """The ids of all leaked rows: kind, side, id."""
    ids = data.ids.to_pylist()
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(["leak", "side", "id"])
        for each in leaks:
            for side, where in (("test", each.test), ("train", each.train)):
                for row in np.flatnonzero(where).tolist():
                    write_row([each.kind, side, harmless(ids[row])])
