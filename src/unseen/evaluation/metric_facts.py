"""What is known about metrics: formula, direction, range, limits, other names.

`metric_facts.toml` holds an entry for each, those of papers and leaderboards included. Direction and range of metrics
that unseen computes come from `Metric`, so that nothing is said twice.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from unseen.errors import InputError, UnknownNameError, hint
from unseen.evaluation.metrics import BY_LABEL, METRICS, find_metric
from unseen.evaluation.weighting import Weighting
from unseen.store.settings_file import NO_OTHER_KEYS
from unseen.types import some

FILE = Path(__file__).with_name("metric_facts.toml")
SEVERAL_MEANINGS = "several_meanings"
"""The table of the file that is no metric: names that mean several things, and which."""
REQUIRED = "required"
PLACES = {
    "LABEL": r".+",
    "METRIC": r".+",
    "NAME": r".+",
    "COUNT": r"\d+",
    "SCHEME": r"[a-z]+",
    "TERMS": r".+",
    "WEIGHTING": r"[a-z]+(\(.+\))?",
}
"""What capitals in an id stand for."""
PLACE = re.compile("|".join(PLACES))
NESTED = 3
"""How many metrics may stand within each other: `standard_error.fall.f1.macro`."""
Direction = Literal["higher", "lower", "none", "METRIC"]
INHERITED = ("direction", "range", "unit", "needs", "interval", "limits", "reference", "measured")
"""What an entry has of its parents where it does not say it."""


@dataclass(frozen=True)
class MetricFact:
    """What is known about one metric, or about a family or group of them."""

    __pydantic_config__ = NO_OTHER_KEYS

    id: str
    parent: str | None = None
    """The family or group that it belongs to; a group has none."""
    name: str = ""
    """In words; without one, the id."""
    aliases: tuple[str, ...] = ()
    formula: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    """With their values; "required" where a name must say it."""
    direction: Direction | None = None
    """Which way is better; "METRIC": as that of the metric in its id."""
    range: tuple[float, float] | Literal["METRIC", "±METRIC"] | None = None
    unit: str = ""
    limits: tuple[str, ...] = ()
    """When it misleads."""
    companions: tuple[str, ...] = ()
    """What to report beside it."""
    needs: tuple[str, ...] = ()
    """What it is made from."""
    interval: str = ""
    """What the interval is that unseen gives."""
    reference: str = ""
    """A function, a tool or a paper that defines it."""
    measured: bool | None = None
    """Whether some run measures it; papers alone print the others."""

    @property
    def required(self) -> tuple[str, ...]:
        """Parameters that a name must say."""
        return tuple(name for name, value in self.params.items() if value == REQUIRED)

    @property
    def is_group(self) -> bool:
        """Whether it is a heading, not a metric."""
        return self.parent is None


@cache
def entries() -> dict[str, MetricFact]:
    """The entries of the file by id, as they stand there."""
    tables = {name: {"id": name, **table} for name, table in _tables().items() if name != SEVERAL_MEANINGS}
    return TypeAdapter(dict[str, MetricFact]).validate_python(tables)


@cache
def _tables() -> dict[str, Any]:
    """The file, which is ours: nobody else writes it, so nothing explains what is wrong with it."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


@cache
def several_meanings() -> dict[str, str]:
    """Names that mean several things, and which."""
    return dict(_tables()[SEVERAL_MEANINGS])


@cache
def fact(name: str) -> MetricFact:
    """What is known about the metric of this id, with what it has of its parents; refuses an id without an entry.

    >>> fact("fall.f1[spam]").formula
    'f1[spam] on random splits, mean, less that on the hard split; positive is worse'
    """
    entry, places = entry_of(name)
    formula = PLACE.sub(lambda match: places.get(match[0], match[0]), entry.formula)
    full = replace(_with_parents(entry), id=name, formula=formula)
    if "METRIC" in places:
        full = _of_metric(full, fact(places["METRIC"]))
    try:
        own = find_metric(name)
    except InputError:  # an entry for any weighting is no weighting itself
        own = None
    if own is None:
        return replace(full, measured=full.measured is not False)
    direction: Direction = "higher" if own.higher_is_better else "lower"
    return replace(full, direction=direction, range=(own.low, own.high), measured=True)


def entry_of(name: str) -> tuple[MetricFact, dict[str, str]]:
    """The entry of an id and what its capitals stand for; refuses an id without one."""
    matched = _matched(name)
    if matched is None:
        raise UnknownNameError.of("metric", name, entries())
    return matched


def is_known(name: str) -> bool:
    """Whether there is an entry for this id."""
    return _matched(name) is not None


def refuse_unmeasured(name: str) -> None:
    """Refuse an id of what no run measures, with the nearest one, or those that begin like it."""
    known = is_known(name) and not entry_of(name)[0].is_group
    if known and fact(name).measured:
        return
    ids = [other for other in _written_out(name) if is_known(other) and fact(other).measured]
    longer = [other for other in ids if re.match(rf"{re.escape(name)}[.\[]", other)]
    problem = f"no run measures {name!r}" if known else f"no metric is called {name!r}"
    expected = f"one of {some(longer, 8)}" if longer else None
    raise UnknownNameError(problem + hint(name, ids), expected=expected, fix="'unseen model metrics show' lists all")


def _written_out(name: str) -> list[str]:
    """The ids of all entries; in place of capitals what stands in `name`, or every metric."""
    label, count = re.search(r"\[(.+)\]", name), re.search(r"\d+", name)
    places = {"LABEL": label and label[1], "COUNT": count and count[0], "NAME": name.rpartition(".")[2]}
    ids = [
        PLACE.sub(lambda match: places.get(match[0]) or match[0], entry.id)
        for entry in entries().values()
        if not entry.is_group
    ]
    metrics = [*METRICS, *(f"{score}[{label[1]}]" for score in BY_LABEL if label)]
    return [one.replace("METRIC", metric) for one in ids for metric in (metrics if "METRIC" in one else ["METRIC"])]


def line_of(name: str) -> list[str]:
    """What this metric is a kind of, the nearest first: `f1`, `f_measure`, `classification` for `f1.macro`."""
    above = entry_of(name)[0].parent
    return [] if above is None else [above, *line_of(above)]


def family(name: str) -> str:
    """The topmost metric that this one is a kind of: `f_measure` for `f1.macro`."""
    return [entry_of(name)[0].id, *line_of(name)][-2]


def children(name: str | None) -> Iterator[MetricFact]:
    """The entries right under one; with None, the groups."""
    yield from (entry for entry in entries().values() if entry.parent == name)


def tree(name: str | None = None) -> list[dict[str, Any]]:
    """All facts as plain values, those of a family in its `children`."""
    return [
        {**{key: value for key, value in described(entry.id).items() if value}, "children": tree(entry.id)}
        for entry in children(name)
    ]


def described(name: str) -> dict[str, Any]:
    """The facts of a metric as plain values; an endless range ends with None, which JSON can say."""
    known = fact(name)
    bounds = known.range
    if isinstance(bounds, tuple):
        return {**vars(known), "range": [end if abs(end) < float("inf") else None for end in bounds]}
    return dict(vars(known))


def _matched(name: str, nested: int = NESTED) -> tuple[MetricFact, dict[str, str]] | None:
    if name in entries():
        return entries()[name], {}
    for entry, pattern in _patterns():
        match = pattern.fullmatch(name)
        inner = match.groupdict().get("METRIC") if match else None
        if match and (inner is None or (nested and _matched(inner, nested - 1))) and _can_be(match.groupdict()):
            return entry, match.groupdict()
    return None


def _can_be(places: Mapping[str, str]) -> bool:
    """Whether there is a weighting such as the one that stands in an id, if one does."""
    scheme, _, terms = places.get("WEIGHTING", "").partition("(")
    scheme, inside = places.get("SCHEME", scheme), places.get("TERMS", terms[:-1] or None)
    try:
        return not scheme or bool(Weighting.parsed(scheme, inside))
    except InputError:
        return False


@cache
def _patterns() -> list[tuple[MetricFact, re.Pattern[str]]]:
    """Entries whose id has capitals; the longest first, because it says the most."""
    open_ids = [entry for entry in entries().values() if PLACE.search(entry.id)]
    return [
        (entry, re.compile(PLACE.sub(lambda match: f"(?P<{match[0]}>{PLACES[match[0]]})", re.escape(entry.id)), re.S))
        for entry in sorted(open_ids, key=lambda entry: -len(entry.id))
    ]


def _with_parents(entry: MetricFact) -> MetricFact:
    """The entry; what it does not say is that of its parents, the nearest first."""
    for above in line_of(entry.id):
        parent = entries()[above]
        unsaid = [name for name in INHERITED if getattr(entry, name) in (None, "", ())]
        entry = replace(entry, **{name: getattr(parent, name) for name in unsaid})
    return entry


def _of_metric(entry: MetricFact, inner: MetricFact) -> MetricFact:
    """The entry of a pattern with what it takes from the metric in its id."""
    bounds = entry.range
    if bounds == "METRIC":
        bounds = inner.range
    elif bounds == "±METRIC":
        width = inner.range[1] - inner.range[0] if isinstance(inner.range, tuple) else float("inf")
        bounds = (-width, width)
    direction = inner.direction if entry.direction == "METRIC" else entry.direction
    params = {**inner.params, **entry.params}
    measured = inner.measured if entry.measured is None else entry.measured
    return replace(
        entry, range=bounds, direction=direction, unit=entry.unit or inner.unit, params=params, measured=measured
    )
