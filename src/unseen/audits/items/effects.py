"""What an experiment says about the rows that rules flag."""

from __future__ import annotations

from collections.abc import Sequence

from unseen.audits.removals import can_be_sure
from unseen.audits.shares import percent, points
from unseen.types import Finding, Measurement


def row_of(rows: Sequence[Measurement], metric: str, **tags: str) -> Measurement:
    """The measurement of this metric with these tags."""
    return next(row for row in rows if row.metric == metric and tags.items() <= dict(row.tags).items())


def effect_of(rows: Sequence[Measurement], metric: str, test: str, lost: int) -> Finding:
    """Whether rows that are flagged do more harm in training than others of the same labels do, on one test part."""
    gain = row_of(rows, f"gain.{metric}", train="cleaned", than="random", test=test)
    check = f"items.effect[{test}]"
    message = (
        f"{metric} on the {test} test part: training without the {lost:,} flagged rows less training without as many "
        f"random rows of the same labels is {points(gain)}{_removals(gain)}"
    )
    if gain.low is None or gain.high is None or gain.low <= 0 <= gain.high:
        return Finding(check, "ok", f"{message}; this may be chance.", lost)
    if gain.low > 0:
        return Finding(check, "ok", f"{message}; cleaning helps.", lost)
    advice = "Keep these rows, or read them: the rules take out what the model needs."
    return Finding(check, "warn", f"{message}; cleaning harms.", lost, advice=advice)


def _removals(gain: Measurement) -> str:
    """How many of the random removals move the score as far, or that there are too few of them to tell."""
    removals, p = gain.tags.get("removals"), gain.tags.get("p")
    if removals is None or p is None:
        return ""
    if not can_be_sure(int(removals)):
        return f" (rests on {removals} random removals, too few to be sure)"
    return f" (of random removals {percent(float(p))} move it as far)"


def enough_seeds(seeds: int, wanted: int) -> Finding:
    """Whether trainings were repeated often enough to see how far seeds differ."""
    message = f"Every training was repeated with {seeds} seeds."
    if seeds >= wanted:
        return Finding("items.seeds", "ok", message, seeds)
    return Finding("items.seeds", "warn", message, seeds, advice=f"{wanted} or more show the spread better.")
