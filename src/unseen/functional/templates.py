"""Templates: sentences with placeholders in brackets, filled from lists and from the forms of groups.

`I like [DISH].` takes each value of the list DISH. A placeholder that every group has a form of, such as [PLURAL],
takes the form of each group in turn, and the group is then what the case is about. `[DISH^]` begins with a capital.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from unseen.errors import InputError
from unseen.seeding import generator

PLACEHOLDER = re.compile(r"\[([A-Z][A-Z0-9_]*)(\^?)\]")
MOST = 100_000
"""Cases that one template may give; more is nearly always a mistake."""

Lists = Mapping[str, Sequence[str]]
Groups = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Filling:
    """One way to fill a template."""

    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    """What stands for each placeholder that is a list."""
    group: str | None = None


def placeholders(template: str) -> tuple[str, ...]:
    """Names of the placeholders, each once, in order.

    >>> placeholders("[DISH^] with [SIDE], not [DISH] alone [sic]")
    ('DISH', 'SIDE')
    """
    return tuple(dict.fromkeys(name for name, _ in PLACEHOLDER.findall(template)))


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with a value for each placeholder; brackets inside values stay as they are.

    >>> filled("[DISH^] or [DISH]?", {"DISH": "soup"})
    'Soup or soup?'
    """

    def value(placeholder: re.Match[str]) -> str:
        word = values[placeholder[1]]
        return word[:1].upper() + word[1:] if placeholder[2] else word

    return PLACEHOLDER.sub(value, template)


def forms(groups: Groups) -> tuple[str, ...]:
    """The placeholders that some group has a form of."""
    return tuple(dict.fromkeys(name for own in groups.values() for name in own))


def fillings(
    template: str, lists: Lists, groups: Groups, *, at_most: int | None = None, seed: int = 42
) -> Iterator[Filling]:
    """Every way to fill the template: all combinations of its lists, each for every group if it names one.

    With `at_most`, so many at most, drawn: every group gets the same combinations, so that groups differ in
    nothing else. What is drawn depends on the seed and on this template alone.
    """
    names = placeholders(template)
    own = [name for name in names if name in lists]
    about = list(groups) if any(name in forms(groups) for name in names) else [None]
    for numbers in _combinations(template, [len(lists[name]) for name in own], len(about), at_most, seed):
        values = {name: lists[name][number] for name, number in zip(own, numbers, strict=True)}
        for group in about:
            of_group = groups[group] if group is not None else {}
            yield Filling(filled(template, {**of_group, **values}), values, group)


def refuse_too_many(template: str, cases: int, fix: str) -> None:
    """Refuse a template that would give more than `MOST` cases."""
    if cases > MOST:
        raise InputError(f"{template!r} gives {cases:,} cases", expected=f"at most {MOST:,}", fix=fix)


def _combinations(
    template: str, sizes: Sequence[int], groups: int, at_most: int | None, seed: int
) -> Iterator[tuple[int, ...]]:
    """Positions in each list, in order; the last list changes fastest."""
    total = math.prod(sizes)
    number = total if at_most is None else min(total, at_most // groups)
    if number < 1:
        raise InputError(f"at_most must be at least the number of groups, {groups}", got=str(at_most))
    refuse_too_many(template, number * groups, "set at_most, or less")
    chosen: Sequence[int] = range(total)
    if number < total:
        chosen = sorted(generator(seed, "template", template).choice(total, number, replace=False).tolist())
    for combination in chosen:
        places = []
        for size in reversed(sizes):
            combination, place = divmod(combination, size)
            places.append(place)
        yield tuple(reversed(places))
