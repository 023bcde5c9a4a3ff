"""A comparison of two runs in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from unseen.evaluation.differences import Key
from unseen.evaluation.intervals import STATISTICS
from unseen.reports.comparison import Change, Comparison
from unseen.reports.formats import Cell, Table
from unseen.reports.wording import amount, amount_within, called, capital, higher_is_better, is_score, shortened
from unseen.types import Measurement
from unseen.types.numbers import DASH, bounds, number, scored, thousandths, told_apart

KINDS = ("better", "worse", "higher", "lower", "unclear", "same")
"""Of a change, as a sentence lists them; higher and lower where nobody knows which is better."""
SAID = 6
"""Up to so many groups are told one by one in a sentence; of more, how many there are."""
LONGEST = 60
"""Characters of a setting that are shown."""
ORDER = ("data", "space", "model", "family", "split", "seed")
"""Tags as a sentence lists them."""
OWN = ("family", "part", "a", "b", "pairs", "rows", "metric", "slice", "against", "seed")
"""Tags that do not belong to the name of a group."""


def headline(comparison: Comparison) -> str:
    """Where B is better, worse or the same, in one sentence about the main metric."""
    rows = [row for row in comparison.rows if row.metric == f"difference.{comparison.metric}" and row.slice == "all"]
    about = f" ({called(comparison.metric)}, {comparison.part} part)."
    if not rows:
        return f"No training of A has its pair in B{about}"
    kinds: dict[str, list[Measurement]] = {}
    for row in rows:
        kinds.setdefault(_kind(row, comparison.metric), []).append(row)
    ordered = [(kind, kinds[kind]) for kind in KINDS if kind in kinds]
    clauses = [_clause(kind, some, rows, comparison.metric) for kind, some in ordered]
    first = capital(clauses[0]) if ordered[0][0] in ("unclear", "same") else f"B is {clauses[0]}"
    return "; ".join([first, *clauses[1:]]) + about


def remarks(comparison: Comparison) -> list[str]:
    """How trainings were paired, and on which groups both runs were tested on the same rows."""
    compared = ", ".join(tag for tag in ORDER if tag in comparison.pairs.tags)
    lines = [f"Paired by {compared}." if comparison.rows and compared else ""]
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
        (pairs.apart, "in both, but without a split and seed in common"),
    ):
        if keys:
            lines.append(f"{where}: {_listed(_keys_named(keys, comparison.metric))}")
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
    names = _told_apart(comparison.rows)
    sliced = [] if all(row.slice == "all" for row in comparison.rows) else ["slice"]
    ends = ["low", "high"] if exact else ["95 % interval"]
    columns = ("family", *names, "part", "metric", *sliced, "A", "B", "B − A", *ends, "pairs", "rows")
    rows = tuple(
        (
            *(str(row.tags.get(tag, "")) for tag in ("family", *names, "part")),
            row.metric.removeprefix("difference."),
            *([row.slice] if sliced else []),
            *(_exact(row) if exact else _rounded(row)),
            row.tags["pairs"],
            row.tags["rows"],
        )
        for row in comparison.rows
    )
    return Table("What changed from A to B", columns, rows, headline(comparison))


def falls_table(comparison: Comparison) -> Table:
    """The fall of each family in A and in B, with their intervals; the change has none of its own."""
    names = _told_apart([a for a, _ in comparison.falls])
    columns = ("family", *names, "part", "metric", "fall in A", "fall in B", "B − A")
    rows = tuple(
        (
            *(str(a.tags.get(tag, "")) for tag in ("family", *names)),
            *_part_of_fall(a.metric), scored(a), scored(b), number((b.value or 0) - (a.value or 0), 3),
        )
        for a, b in comparison.falls
    )  # fmt: skip
    return Table("The fall against random splits", columns, rows, "Positive is worse.")


def _part_of_fall(metric: str) -> tuple[str, str]:
    """Which part of a fall a row is, and of which metric."""
    name = metric.removeprefix("fall.")
    part = next((name_of_part for name_of_part in ("selection", "novelty") if name.startswith(f"{name_of_part}.")), "")
    return part or "all", name.removeprefix(f"{part}.") if part else name


def named(row: Measurement, rows: Sequence[Measurement]) -> str:
    """Family of a group, with what else tells it from the other groups."""
    more = [str(row.tags[tag]) for tag in _told_apart(rows) if tag in row.tags]
    if "family" not in row.tags:
        return "/".join(more) or "all splits"
    return f"{row.tags['family']} ({', '.join(more)})" if more else str(row.tags["family"])


def _told_apart(rows: Iterable[Measurement]) -> list[str]:
    """Tags beyond the family of which there is more than one value."""
    rows = list(rows)
    tags = dict.fromkeys(tag for row in rows for tag in row.tags if tag not in (*OWN, *STATISTICS))
    return [tag for tag in tags if len({row.tags.get(tag) for row in rows}) > 1]


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


def _clause(kind: str, some: Sequence[Measurement], rows: Sequence[Measurement], metric: str) -> str:
    start = {"unclear": "no clear change", "same": "no change at all"}.get(kind, kind)
    if len(some) > SAID:
        return f"{start} in {len(some)} of {len(rows)} groups"
    if kind == "same":
        return f"{start} on {', '.join(named(row, rows) for row in some)}"
    if kind == "unclear":
        return f"{start} on " + ", ".join(f"{named(row, rows)} (B − A {_with_bounds(row, metric)})" for row in some)
    if kind in ("higher", "lower"):
        ends = (" → ".join(told_apart(*(float(row.tags[side]) for side in "ab"))) for row in some)
        return f"{kind} on " + ", on ".join(f"{named(row, rows)} ({end})" for row, end in zip(some, ends, strict=True))
    return f"{kind} on " + ", on ".join(f"{named(row, rows)} by {_size(row, metric)}" for row in some)


def _size(row: Measurement, metric: str) -> str:
    """How large a change is, whatever its direction; without an interval, why there is none."""
    value = row.value or 0.0
    if row.low is not None and row.high is not None:
        ends = (row.low, row.high) if value > 0 else (-row.high, -row.low)
        return _with_bounds(replace(row, value=abs(value), low=ends[0], high=ends[1]), metric)
    why = "too few for an interval" if row.tags["pairs"] == 1 else "they do not vary, so no interval"
    return f"{amount(metric, abs(value))} in {_pairs(row)} ({'; '.join([why, *_caution(row)])})"


def _with_bounds(row: Measurement, metric: str) -> str:
    return ", ".join([f"{amount_within(metric, row)} over {_pairs(row)}", *_caution(row)])


def _caution(row: Measurement) -> list[str]:
    return [f"other {row.tags.get('part', 'test')} rows"] if row.tags["rows"] == "other" else []


def _pairs(row: Measurement) -> str:
    count = row.tags["pairs"]
    return f"{count} pair" if count == 1 else f"{count} pairs"


def _about_rows(comparison: Comparison, rows: str, start: str, end: str = "") -> str:
    some = [named(row, comparison.rows) for row in comparison.rows if row.tags["rows"] == rows]
    return f"{start} {_listed(some)}{f'; {end}' if end else ''}" + ("." if rows == "same" else "") if some else ""


def _listed(names: Sequence[str]) -> str:
    names = list(dict.fromkeys(names))
    rest = len(names) - SAID
    return ", ".join(names[:SAID]) + (f" and {rest} more" if rest > 0 else "")


def _keys_named(keys: Iterable[Key], main: str) -> list[str]:
    """Names of groups, with their metric and slice where those are not the usual ones."""
    rows = [Measurement(dict(key)["metric"], None, 0, slice=dict(key)["slice"], tags=dict(key)) for key in keys]
    before = [[row.metric] * (row.metric != main) + [row.slice] * (row.slice != "all") for row in rows]
    return [
        f"{', '.join(words)} on {named(row, rows)}" if words else named(row, rows)
        for row, words in zip(rows, before, strict=True)
    ]


def _side(text: str) -> str:
    return shortened(text, LONGEST) or DASH


def _brief(what: str, change: Change) -> str:
    """Checksums are long, and nobody reads them."""
    if not change.a or not change.b:
        return f"{what}: only in {'A' if change.a else 'B'}"
    return f"{what}: {change.a[:8]}… → {change.b[:8]}…" if change.a[:8] != change.b[:8] else f"{what}: of other data"


def _rounded(row: Measurement) -> list[Cell]:
    a, b = (float(row.tags[side]) for side in "ab")
    return [*map(thousandths, (a, b, row.value)), bounds(row, thousandths) or DASH]


def _exact(row: Measurement) -> list[Cell]:
    return [row.tags["a"], row.tags["b"], row.value, row.low, row.high]
