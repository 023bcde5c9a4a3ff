"""What rules flag: how much, where, and how much of it others flag as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unseen.audits.items.flags import Flags
from unseen.audits.items.rule import Codes, Mask
from unseen.audits.shares import ids_of, percent, share
from unseen.evaluation.measuring import places_by_slice
from unseen.types import Dataset, Finding, Measurement, Split

MUCH = 0.5
"""A rule that flags more than this share of the items does not tell good ones from bad."""
UNEVEN = 2.0
"""A rule that flags one label so many times as often as all items together changes the mix of labels."""
EVIDENCE = 10


def rule_report(
    flags: Flags, data: Dataset, split: Split | None = None, slices: Sequence[str] = ()
) -> list[Measurement]:
    """Coverage of every rule, overlap of every two, and the share flagged at every threshold, with intervals.

    `rule_coverage` is the share of items a rule flags: of all, of each label, of each part of the split, of each
    value of the attributes `slices`. `rule_overlap` is the share of a rule's flags that another rule shares,
    `rule_alone` the share that no other does. `flagged_share` counts items that at least so many rules flag.
    """
    flags = flags.of(data)
    places = list(_places(data, split, slices))
    found = [row for name, rows in places for row in _coverage(flags, name, rows)]
    return found + _overlap(flags)


def rule_findings(flags: Flags, data: Dataset) -> list[Finding]:
    """One finding per rule: what it flags, and whether that looks like a rule that does not fit the data."""
    flags = flags.of(data)
    found = [_finding(flags, data, place) for place in range(len(flags.rules))]
    return found + [
        Finding(f"items.{name}", "skipped", f"The rule {name!r} did not vote: it {why}.")
        for name, why in flags.skipped.items()
    ]


def top_threshold(flags: Flags) -> int:
    """The most rules that flag one item, at least 1."""
    return max(1, int(flags.votes.max(initial=0)))


def _places(data: Dataset, split: Split | None, slices: Sequence[str]) -> Iterator[tuple[str, Codes]]:
    everything = np.arange(len(data))
    yield from places_by_slice(data, everything, slices)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", np.flatnonzero(data.labels == code)
    if split is not None:
        parts = split.of(data)
        yield from ((f"part={part}", parts.rows(part)) for part in parts.sizes)


def _coverage(flags: Flags, name: str, rows: Codes) -> list[Measurement]:
    if not len(rows):
        return []
    found = [
        _of(share("rule_coverage", flags.fired[rows, at], {"rule": rule.name, "pack": rule.pack}), name)
        for at, rule in enumerate(flags.rules)
    ]
    votes = flags.votes[rows]
    return found + [
        _of(share("flagged_share", votes >= threshold, {"threshold": threshold}), name)
        for threshold in range(1, top_threshold(flags) + 1)
    ]


def _of(row: Measurement, name: str) -> Measurement:
    return Measurement(row.metric, row.value, row.n, row.low, row.high, name, row.tags)


def _overlap(flags: Flags) -> list[Measurement]:
    found = []
    for at, rule in enumerate(flags.rules):
        mine = flags.fired[:, at]
        if not mine.any():
            continue
        tags = {"rule": rule.name, "pack": rule.pack}
        found.append(share("rule_alone", flags.votes[mine] == 1, tags))
        for other, name in enumerate(flags.rules):
            both: Mask = flags.fired[mine, other]
            if other != at and both.any():
                found.append(share("rule_overlap", both, tags | {"other": name.name}))
    return found


def _finding(flags: Flags, data: Dataset, place: int) -> Finding:
    rule, rows = flags.rules[place], np.flatnonzero(flags.fired[:, place])
    whole, check = len(rows) / max(1, len(data)), f"items.{rule.name}"
    said = f"The rule {rule.name!r} ({rule.trait}) flags {len(rows):,} of {len(data):,} items, {percent(whole)}"
    evidence = ids_of(data, rows)[:EVIDENCE]
    if not len(rows):
        return Finding(check, "ok", f"{said}.")
    if whole > MUCH:
        advice = "It is hardly made for such texts: leave it out, or measure its precision with hand labels."
        return Finding(check, "warn", f"{said}: more than half.", len(rows), evidence, advice)
    uneven = _uneven(flags.fired[:, place], data)
    more = f"; of {uneven[0]!r} it flags {percent(uneven[1])}" if uneven else ""
    advice = "Read some of them before you clean: a flag is a reason to look, not proof." + (
        " Cleaning by it changes the mix of labels." if uneven else ""
    )
    return Finding(check, "warn", f"{said}{more}.", len(rows), evidence, advice)


def _uneven(fired: Mask, data: Dataset) -> tuple[str, float] | None:
    """The label of which a rule flags far more than of all items, with at least ten flags; None without one."""
    k = len(data.label_names)
    of_label = np.bincount(data.labels[fired], minlength=k)
    rate = of_label / np.maximum(np.bincount(data.labels, minlength=k), 1)
    worst = int(np.argmax(np.where(of_label >= EVIDENCE, rate, -1.0)))
    far = of_label[worst] >= EVIDENCE and rate[worst] > UNEVEN * fired.mean()
    return (data.label_names[worst], float(rate[worst])) if far else None
