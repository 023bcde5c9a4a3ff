"""What rules flag: how much, where, and how much of it others flag as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from unseen.audits.findings import evidence_of, share_of
from unseen.audits.items.flags import Flags
from unseen.audits.items.rule import Codes, Mask
from unseen.evaluation.measurements import places_by_slice
from unseen.types import Dataset, Finding, Measurement, Split
from unseen.types.numbers import percent

MUCH = 0.5
"""A rule that flags more than this share of the items does not tell good ones from bad."""
UNEVEN = 2.0
"""A rule that flags one label so many times as often as all items together changes the mix of labels."""
FEWEST_FLAGS = 10
"""Flags that a label needs before its rate is compared."""


def rule_report(
    flags: Flags, data: Dataset, split: Split | None = None, slices: Sequence[str] = ()
) -> list[Measurement]:
    """Coverage of every rule, overlap of every two, and the share flagged at every threshold, with intervals.

    `rule_coverage` is the share of items a rule flags: of all, of each label, of each part of the split, of each
    value of the attributes `slices`. `rule_overlap` is the share of a rule's flags that another rule shares,
    `rule_alone` the share that no other does. `flagged_share` counts items that at least so many rules flag.
    """
    flags = flags.of(data)
    measurements = []
    for name, rows in _slices(data, split, slices):
        if not len(rows):
            continue
        for place, rule in enumerate(flags.rules):
            measurements.append(share_of("rule_coverage", flags.fired[rows, place], rule.tags, name))
        for threshold in flags.thresholds:
            flagged = flags.votes[rows] >= threshold
            measurements.append(share_of("flagged_share", flagged, {"threshold": threshold}, name))
    return measurements + _overlap(flags)


def rule_findings(flags: Flags, data: Dataset) -> list[Finding]:
    """One finding per rule: what it flags, and whether that looks like a rule that does not fit the data."""
    flags = flags.of(data)
    findings = [_finding(flags, data, place) for place in range(len(flags.rules))]
    return findings + [
        Finding(f"items.{name}", "skipped", f"The rule {name!r} did not vote: it {why}.")
        for name, why in flags.skipped.items()
    ]


def _slices(data: Dataset, split: Split | None, slices: Sequence[str]) -> Iterator[tuple[str, Codes]]:
    yield from places_by_slice(data, np.arange(len(data)), slices)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", np.flatnonzero(data.labels == code)
    if split is not None:
        parts = split.of(data)
        yield from ((f"part={part}", parts.rows(part)) for part in parts.sizes)


def _overlap(flags: Flags) -> list[Measurement]:
    measurements = []
    for place, rule in enumerate(flags.rules):
        own = flags.fired[:, place]
        if not own.any():
            continue
        measurements.append(share_of("rule_alone", flags.votes[own] == 1, rule.tags))
        for other_place, other in enumerate(flags.rules):
            both: Mask = flags.fired[own, other_place]
            if other_place != place and both.any():
                measurements.append(share_of("rule_overlap", both, rule.tags | {"other": other.name}))
    return measurements


def _finding(flags: Flags, data: Dataset, place: int) -> Finding:
    rule, rows = flags.rules[place], np.flatnonzero(flags.fired[:, place])
    whole, check = len(rows) / max(1, len(data)), f"items.{rule.name}"
    message = f"The rule {rule.name!r} ({rule.trait}) flags {len(rows):,} of {len(data):,} items, {percent(whole, 1)}"
    if not len(rows):
        return Finding(check, "ok", f"{message}.")
    if whole > MUCH:
        message += ": more than half"
        advice = "It is hardly made for such texts: leave it out, or measure its precision with hand labels."
    else:
        advice = "Read some of them before you clean: a flag is a reason to look, not proof."
        uneven = _uneven(flags.fired[:, place], data)
        if uneven:
            message += f"; of {uneven[0]!r} it flags {percent(uneven[1], 1)}"
            advice += " Cleaning by it changes the mix of labels."
    return Finding(check, "warn", f"{message}.", len(rows), evidence_of(data, rows), advice)


def _uneven(fired: Mask, data: Dataset) -> tuple[str, float] | None:
    """The label of which a rule flags far more than of all items, with at least ten flags; None without one."""
    k = len(data.label_names)
    of_label = np.bincount(data.labels[fired], minlength=k)
    rate = of_label / np.maximum(np.bincount(data.labels, minlength=k), 1)
    worst = int(np.argmax(np.where(of_label >= FEWEST_FLAGS, rate, -1.0)))
    far = of_label[worst] >= FEWEST_FLAGS and rate[worst] > UNEVEN * fired.mean()
    return (data.label_names[worst], float(rate[worst])) if far else None
