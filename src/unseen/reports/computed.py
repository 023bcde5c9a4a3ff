"""What is known about metrics, for readers: the last section of every page, and a glossary.

The section is made from the measurements of the run: what it did not measure is not explained.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from unseen.evaluation.metric_facts import children, entry_of, fact, is_known
from unseen.reports.formats import Table, to_markdown
from unseen.types import Measurement

BETTER = {"higher": "higher is better", "lower": "lower is better", "none": "neither way is better"}
MOST_NAMES = 12
"""Labels or metrics of one kind of number that are named."""


@dataclass
class Computed:
    """One kind of number: `fall.METRIC` for the falls of all metrics."""

    name: str
    formula: str
    details: list[str]
    """Direction, range and unit, and the interval, where the run has some."""
    of: list[str] = field(default_factory=list)
    """What its capitals stand for in this run."""

    @property
    def named(self) -> str:
        """What its capitals stand for, the first few of many."""
        more = [f"and {len(self.of) - MOST_NAMES:,} more"] if len(self.of) > MOST_NAMES else []
        return ", ".join([*self.of[:MOST_NAMES], *more])


def computed(measurements: Iterable[Measurement]) -> list[Computed]:
    """What is known about the numbers of a run, each kind once; a number without an entry says so."""
    with_interval: dict[str, bool] = {}
    for row in measurements:
        with_interval[row.metric] = with_interval.get(row.metric, False) or row.low is not None
    kinds: dict[str, Computed] = {}
    for name in sorted(with_interval, key=lambda name: (not is_known(name), name)):
        if not is_known(name):
            kinds[name] = Computed(name, "no entry in the registry of metrics", [])
            continue
        entry, places = entry_of(name)
        kind = kinds.setdefault(entry.id, Computed(entry.id, entry.formula, []))
        if places:
            kind.of.append(name if len(places) > 1 else next(iter(places.values())))
        if not kind.details:
            kind.details.append(direction_and_range(entry.id))
        interval = fact(entry.id).interval
        if with_interval[name] and interval and interval not in kind.details:
            kind.details.append(interval)
    return list(kinds.values())


def direction_and_range(name: str) -> str:
    """Which way is better, and within which bounds; those of a metric within the name are its own."""
    known = fact(name)
    direction = BETTER.get(str(known.direction), "the better direction is METRIC's")
    if isinstance(known.range, tuple):
        bounds = " to ".join(f"{end:g}".replace("-", "−").replace("inf", "∞") for end in known.range)
    else:
        bounds = "the range of METRIC" if known.range == "METRIC" else "± the width of METRIC's range"
    return ", ".join(filter(None, [direction, bounds, known.unit]))


def glossary() -> str:
    """All metrics as Markdown, a table for each group."""
    parts = ["# Metrics\n"]
    for group in children(None):
        columns = ("id", "other names", "formula", "direction, range, unit", "a name must say", "limits")
        parts += [f"## {group.name}\n", to_markdown(Table("", columns, tuple(_glossary_rows(group.id))))]
    return "\n".join(parts)


def _glossary_rows(parent: str) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for entry in children(parent):
        known = fact(entry.id)
        names, required, limits = ", ".join(entry.aliases), ", ".join(known.required), "; ".join(known.limits)
        rows.append((entry.id, names, known.formula, direction_and_range(entry.id), required, limits))
        rows += _glossary_rows(entry.id)
    return rows
