"""A comparison of two runs in sentences and tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isinf

from unseen.evaluation.differences import OF_A_DIFFERENCE, Key
from unseen.evaluation.intervals import describes_number
from unseen.evaluation.metric_facts import fact, is_known
from unseen.evaluation.wording import (
    amount,
    amount_within,
    called,
    capital,
    higher_is_better,
    is_score,
    shortened,
    writer,
)
from unseen.reports.comparison import Change, Comparison
from unseen.reports.formats import Cell, Table
from unseen.reports.record import MEAN
from unseen.types import Measurement
from unseen.types.numbers import DASH, bounds, scored, sized, thousandths, told_apart

KINDS = ("better", "worse", "higher", "lower", "unclear", "same")
"""Of a change, as a sentence lists them; higher and lower where nobody knows which is better."""
SAID = 6
"""Up to so many groups are told one by one in a sentence; of more, how many there are."""
LONG_NUMBER = re.compile(r"-?\d+\.\d{4,}")
LONGEST = 60
"""Characters of a setting that are shown."""
ORDER = ("data", "space", "model", "family", "split", "seed")
"""Tags as a sentence lists them."""
OWN = (*OF_A_DIFFERENCE, "family", "part", "metric", "slice", "against")
"""Tags that do not belong to the name of a group."""


def headline(comparison: Comparison) -> str:
    """Where B is better, worse or the same, in one sentence about the main metric."""
    of_metric = [row for row in comparison.rows if row.metric == f"difference.{comparison.metric}"]
    rows = [row for row in of_metric if row.slice == "all"] or of_metric
    about = f" ({', '.join([called(comparison.metric), *_part(comparison)])})."
    if not rows:
        return f"A and B have no {'training' if all(comparison.seeds) else 'number'} in common{about}"
    kinds: dict[str, list[Measurement]] = {}
    for row in rows:
        kinds.setdefault(_kind(row, comparison.metric), []).append(row)
    ordered = [(kind, kinds[kind]) for kind in KINDS if kind in kinds]
    groups = _all_groups(comparison, comparison.metric)
    clauses = [_clause(kind, some, rows, comparison.metric, groups) for kind, some in ordered]
    first = capital(clauses[0]) if ordered[0][0] in ("unclear", "same") else f"B is {clauses[0]}"
    return "; ".join([first, *clauses[1:]]) + about


def _part(comparison: Comparison) -> list[str]:
    """The part that the main metric was measured on, where the run has parts."""
    has_parts = any("part" in row.tags for row in _all_groups(comparison, comparison.metric))
    return [f"{comparison.part} part"] if has_parts else []


def remarks(comparison: Comparison) -> list[str]:
    """How trainings were paired, and on which groups both runs were tested on the same rows."""
    compared = ", ".join(tag for tag in ORDER if tag in comparison.pairs.tags)
    of_trainings = any("trainings" in row.tags for row in comparison.rows)
    lines = [f"Paired by {compared}." if of_trainings and compared else ""]
    if comparison.findings:
        counts = Counter(_how_changed(change) for change in comparison.findings)
        lines.append(f"Findings: {', '.join(f'{count} {how}' for how, count in counts.items())}.")
    for tag, (a, b) in comparison.pairs.ignored.items():
        lines.append(f"The {tag} is not the same: {a or 'not said'} in A, {b or 'not said'} in B.")
    if comparison.seeds[0] != comparison.seeds[1]:
        a, b = (", ".join(seeds) for seeds in comparison.seeds)
        lines.append(f"Seeds of A: {a}; of B: {b}. Only those of both make pairs.")
    lines.append(_about_rows(comparison, "same", f"Same {comparison.part} rows on"))
    return list(filter(None, lines))


def warnings(comparison: Comparison) -> list[str]:
    """What may mislead: groups tested on other rows, and groups without a pair."""
    other = _about_rows(
        comparison, "other", f"{comparison.part} rows differ on", "the difference is of the texts as well"
    )
    unknown = _about_rows(comparison, "unknown", f"whether {comparison.part} rows are the same is not known on")
    pairs, lines = comparison.pairs, [other, unknown]
    for keys, where in (
        (pairs.only_a, "only in A"),
        (pairs.only_b, "only in B"),
        (pairs.apart, "not compared, because A and B have no split and seed in common"),
    ):
        if keys:
            lines.append(f"{where}: {_listed(_keys_named(keys, comparison))}")
    return list(filter(None, lines))


def changes(comparison: Comparison) -> list[str]:
    """Settings, versions, data and splits that differ, a line each."""
    lines = [
        f"{change.name}: {_side(change.a)} → {_side(change.b)}"
        for change in (*comparison.settings, *comparison.versions)
    ]
    lines += [
        f"{'data' if change.name == 'data' else f'data {change.name}'}: {_side(change.a)} → {_side(change.b)}"
        for change in comparison.data
    ]
    return lines + [_brief(f"split {change.name}", change) for change in comparison.splits]


def differences_table(comparison: Comparison, exact: bool = False) -> Table:
    """A row per group; `exact` for numbers with all their digits and the bounds in columns of their own."""
    names = _told_apart(_all_groups(comparison))
    ends = ["low", "high"] if exact else ["95 % interval"]
    columns = ("family", *names, "part", "metric", "slice", "A", "B", "B − A", *ends, "pairs", "rows")
    rows = [
        (
            *(_tag(row, tag, exact) for tag in ("family", *names, "part")),
            row.metric.removeprefix("difference."),
            row.slice,
            *(_exact(row) if exact else _rounded(row)),
            row.tags.get("trainings"),
            row.tags.get("tested_rows"),
        )
        for row in comparison.rows
    ]
    return _filled("What changed from A to B", columns, rows, headline(comparison))


def falls_table(comparison: Comparison) -> Table:
    """The fall of each family in A and in B, with their intervals; the change has none of its own."""
    names = _told_apart([a for a, _ in comparison.falls])
    columns = ("family", *names, "part", "metric", "slice", "fall in A", "fall in B", "B − A")
    rows = [
        (
            *(_tag(a, tag) for tag in ("family", *names)), *_part_of_fall(a.metric), a.slice,
            scored(a, write), scored(b, write), write((b.value or 0) - (a.value or 0)),
        )
        for a, b in comparison.falls
        for write in [writer(_part_of_fall(a.metric)[1])]
    ]  # fmt: skip
    return _filled("The falls of A and B", columns, rows, "Positive is worse; of shares in points.")


def findings_table(comparison: Comparison) -> Table:
    """A row per check whose finding is new, gone or of another level."""
    rows = [(change.name, change.a or DASH, change.b or DASH) for change in comparison.findings]
    return Table("The findings of A and B", ("finding", "level in A", "level in B"), tuple(rows))


def _how_changed(change: Change) -> str:
    return "of another level" if change.a and change.b else f"only in {'A' if change.a else 'B'}"


def tables(comparison: Comparison) -> list[Table]:
    """The differences, falls and findings, as far as there are some."""
    every = (differences_table(comparison), falls_table(comparison), findings_table(comparison))
    return [table for table in every if table.rows]


def _filled(title: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]], note: str) -> Table:
    """A table without the columns that hold nothing; a slice or part of a fall holds nothing where all are `all`."""
    nothing = {"slice": ("all",), "part": ("", "all")}
    places = [
        place
        for place, name in enumerate(columns)
        if not rows or any(row[place] not in nothing.get(name, ("", DASH, None)) for row in rows)
    ]
    lines = tuple(tuple("" if row[place] is None else row[place] for place in places) for row in rows)
    return Table(title, tuple(columns[place] for place in places), lines, note)


def _tag(row: Measurement, tag: str, exact: bool = False) -> str:
    """A tag as text, a number with three decimals."""
    text = str(row.tags.get(tag, ""))
    return thousandths(float(text)) if not exact and LONG_NUMBER.fullmatch(text) else text


def _part_of_fall(metric: str) -> tuple[str, str]:
    """Which part of a fall a row is, and of which metric."""
    name = metric.removeprefix("fall.")
    part = next((name_of_part for name_of_part in ("selection", "novelty") if name.startswith(f"{name_of_part}.")), "")
    return part or "all", name.removeprefix(f"{part}.") if part else name


def named(row: Measurement, rows: Sequence[Measurement]) -> str:
    """Family of a group, with what else tells it from the other groups; nothing where that is not needed.

    Several things are said with what they are: `leak=exact & side=train`, as slices are.
    """
    names = _told_apart(rows)
    tags = [tag for tag in names if tag in row.tags]
    more = " & ".join(f"{tag}={_tag(row, tag)}" if len(names) > 1 else _tag(row, tag) for tag in tags)
    if "family" not in row.tags:
        return more or ("the whole run" if names else "")
    return f"{row.tags['family']} ({more})" if more else str(row.tags["family"])


def _all_groups(comparison: Comparison, metric: str | None = None) -> list[Measurement]:
    """Every group of either run, of a metric or of all, as a row without a number."""
    pairs = comparison.pairs
    keys = map(dict, (*pairs.groups, *pairs.only_a, *pairs.only_b, *pairs.apart))
    return [
        Measurement(key["metric"], None, 0, slice=key["slice"], tags=key)
        for key in keys
        if metric in (None, key["metric"])
    ]


def _told_apart(rows: Iterable[Measurement]) -> list[str]:
    """Tags beyond the family of which there is more than one value."""
    rows = list(rows)
    tags = dict.fromkeys(tag for row in rows for tag in row.tags if tag not in OWN and not describes_number(tag))
    values = {tag: {row.tags.get(tag) for row in rows} for tag in tags}
    return [tag for tag in tags if len(values[tag]) > 1 and not (tag == "seed" and values[tag] <= {*MEAN})]


def _kind(row: Measurement, metric: str) -> str:
    value = row.value or 0.0
    if row.low is None or row.high is None:
        if value and not is_score(metric):
            return "higher" if value > 0 else "lower"
        gain = value if higher_is_better(metric) else -value
        return "same" if not gain else "better" if gain > 0 else "worse"
    if row.low <= 0 <= row.high:
        return "unclear"
    return "better" if (value > 0) == higher_is_better(metric) else "worse"


def _clause(
    kind: str, some: Sequence[Measurement], rows: Sequence[Measurement], metric: str, groups: Sequence[Measurement]
) -> str:
    start = {"unclear": "no clear change", "same": "no change at all"}.get(kind, kind)
    if len(some) > SAID:
        return f"{start} in {len(some)} of {len(rows)} groups"
    places = [f" on {name}" if (name := named(row, groups)) else "" for row in some]
    if kind in ("unclear", "same"):
        places[1:] = [place.replace(" on ", " ", 1) for place in places[1:]]
    return start + ",".join(f"{place}{_change(kind, row, metric)}" for place, row in zip(places, some, strict=True))


def _change(kind: str, row: Measurement, metric: str) -> str:
    """How far a number moved, as a sentence says it after the name of what it is of."""
    if kind == "same":
        return ""
    if kind == "unclear":
        return f" (B − A {_with_bounds(row, metric)})"
    if kind in ("higher", "lower"):
        a, b = (float(row.tags[side]) for side in "ab")
        return f" ({' → '.join([sized(a), sized(b)] if _is_unbounded(metric) else told_apart(a, b))})"
    return f" by {_size(row, metric)}"


def _size(row: Measurement, metric: str) -> str:
    """How large a change is, whatever its direction; of trainings without an interval, why there is none."""
    value = row.value or 0.0
    if row.low is not None and row.high is not None:
        ends = (row.low, row.high) if value > 0 else (-row.high, -row.low)
        return _with_bounds(replace(row, value=abs(value), low=ends[0], high=ends[1]), metric)
    if "trainings" not in row.tags:
        return amount(metric, abs(value))
    why = "too few for an interval" if row.tags["trainings"] == 1 else "they do not vary, so no interval"
    return f"{amount(metric, abs(value))} in {_pairs(row)} ({'; '.join([why, *_caution(row)])})"


def _with_bounds(row: Measurement, metric: str) -> str:
    over = f" over {_pairs(row)}" if "trainings" in row.tags else ""
    return ", ".join([f"{amount_within(metric, row)}{over}", *_caution(row)])


def _caution(row: Measurement) -> list[str]:
    return [f"other {row.tags.get('part', 'test')} rows"] if row.tags.get("tested_rows") == "other" else []


def _pairs(row: Measurement) -> str:
    count = row.tags["trainings"]
    return f"{count} pair" if count == 1 else f"{count} pairs"


def _about_rows(comparison: Comparison, rows: str, start: str, end: str = "") -> str:
    groups = _all_groups(comparison)
    some = [named(row, groups) for row in comparison.rows if row.tags.get("tested_rows") == rows]
    return f"{start} {_listed(some)}{f'; {end}' if end else ''}" + ("." if rows == "same" else "") if some else ""


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    rest = len(names) - SAID
    return ", ".join(names[:SAID]) + (f" and {rest} more" if rest > 0 else "")


def _keys_named(keys: Iterable[Key], comparison: Comparison) -> list[str]:
    """Names of groups, with their metric and slice where those are not the usual ones."""
    names = []
    for key in map(dict, keys):
        row = Measurement(key["metric"], None, 0, slice=key["slice"], tags=key)
        place = named(row, _all_groups(comparison, row.metric))
        before = [row.metric] * (row.metric != comparison.metric or not place) + [row.slice] * (row.slice != "all")
        names.append(" on ".join(filter(None, [", ".join(before), place])))
    return names


def _side(text: str) -> str:
    return shortened(text, LONGEST) or DASH


def _brief(what: str, change: Change) -> str:
    """Checksums are long, and nobody reads them."""
    if not change.a or not change.b:
        return f"{what}: only in {'A' if change.a else 'B'}"
    return f"{what}: {change.a[:8]}… → {change.b[:8]}…" if change.a[:8] != change.b[:8] else f"{what}: of other data"


def _rounded(row: Measurement) -> list[Cell]:
    write = sized if _is_unbounded(row.metric.removeprefix("difference.")) else thousandths
    a, b = (float(row.tags[side]) for side in "ab")
    return [*map(write, (a, b, row.value)), bounds(row, write) or DASH]


def _is_unbounded(metric: str) -> bool:
    """Whether a number may be of any size, as counts and times are and scores are not."""
    known = fact(metric) if is_known(metric) and not is_score(metric) else None
    return known is not None and isinstance(known.range, tuple) and isinf(known.range[1])


def _exact(row: Measurement) -> list[Cell]:
    return [row.tags["a"], row.tags["b"], row.value, row.low, row.high]
