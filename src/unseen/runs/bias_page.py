"""What a bias run says: the group that fares worst, groups one by one, parts side by side, metrics, swaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from markupsafe import Markup, escape

from unseen.evaluation.wording import called, capital
from unseen.reports.figures import DotLine, colour_of, dot_chart
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, counted, sorted_findings, two_widths, with_lines, worst_level
from unseen.reports.record import RunRecord
from unseen.runs.bias import SHIFTED, called_group
from unseen.subgroups.subgroup import AUCS
from unseen.types import Measurement, some
from unseen.types.numbers import DASH, number, percent, scored

NAMES = {
    "bias.subgroup_auc": "subgroup AUC",
    "bias.bpsn_auc": "BPSN AUC",
    "bias.bnsp_auc": "BNSP AUC",
    "bias.positive_aeg": "positive gap",
    "bias.negative_aeg": "negative gap",
}
MEANS = {
    **{f"bias.gmb_{auc}": f"{NAMES[f'bias.{auc}']}, generalised mean" for auc in AUCS},
    "bias.mean_positive_aeg": "positive gap, mean size",
    "bias.mean_negative_aeg": "negative gap, mean size",
}
LOW = {
    "bias.subgroup_auc": "harmful and harmless texts about it are told apart so well",
    "bias.bpsn_auc": "so often a harmful text of others scores above a harmless one about it",
    "bias.bnsp_auc": "so often a harmful text about it scores above a harmless one of others",
}
CHANGES = {
    "bias.flip_rate": "other label",
    "bias.mean_change": "mean change",
    "bias.mean_absolute_change": "mean size",
    "bias.largest_change": "largest",
}
COMPARED = {
    "all": "all texts that are not about the group",
    "mentioned": "texts that are about another group but not this one",
}
READING = (
    "AUCs: .5 is chance, 1 a perfect order. BPSN is low where harmless texts about the group score too high (false "
    "alarms), BNSP where harmful ones score too low (missed). Gaps: 0 is equal, below 0 texts about the group score "
    "higher. Intervals are 95 %."
)
MEANS_NOTE = (
    "Of AUCs the generalised mean with power −5, near the worst group; of gaps their mean size, which is nothing where "
    "it is not above that by chance."
)
SLICE_NOTE = (
    "NAME=group: texts about it; NAME!=group: all others. “By chance”: how far extremes would lie apart if all groups "
    "were equal."
)
MOST_CHARTS = 4
Key = tuple[str, str]
"""Where something was measured: the part, and the background."""


def page(record: RunRecord) -> Page:
    """The verdict, a picture and a table of groups, and whatever else was asked for."""
    about, rows = record.about, record.measurements
    shown = with_lines(tables(rows))
    findings = sorted_findings(record.findings)
    headings = {
        "groups": "Group by group", "means": "All groups together", "side-by-side": "Parts side by side",
        "metrics": "Metrics by group", "swaps": "Words put in each other's place",
    }  # fmt: skip
    notes = {"means": MEANS_NOTE, "metrics": SLICE_NOTE}
    return Page(
        "bias",
        f"Is {about['model']} worse on texts about some groups of {about['data']['name']}?",
        verdict(record),
        f"{about['data']['rows']:,} texts: {counted(about['data']['counts'])}; positive: "
        f"{some(about['settings']['positive'])}",
        READING,
        [
            *(
                Section(headings[name], "", charts(rows) if name == "groups" else (), [table], note=notes.get(name, ""))
                for name, table in shown.items()
            ),
            Section("Findings", findings=findings),
        ],
        shown,
        [table for name, table in shown.items() if name != "side-by-side" or len(table.rows) < 100],
        files={} if record.file("predictions") is None else {"what the model said": "predictions/"},
    )  # fmt: skip


def verdict(record: RunRecord) -> Verdict:
    """The lowest AUC of a group, how many gaps are clearly there, extremes of metrics, and what swaps change."""
    level = worst_level(record.findings) if record.gates_hold else "fail"
    headline, *sentences = [
        *_worst(record.measurements), *_gaps(record), *_extremes(record.measurements), *_flips(record.measurements),
    ] or ["No verdict: no group has texts of both kinds."]  # fmt: skip
    badges = {"fail": "a gate failed", "warn": "groups differ", "ok": "no clear gap", "skipped": "too few texts"}
    return Verdict(headline, sentences, level, badge=badges[level])


def _worst(rows: Sequence[Measurement]) -> Iterator[str]:
    """The lowest AUC that has an interval; of all where none has."""
    known = [row for row in rows if row.metric in LOW and row.value is not None]
    sure = [row for row in known if row.low is not None] or known
    few = f", leaving out {len(known) - len(sure)} with too few texts" if len(sure) < len(known) else ""
    lowest = min(sure, key=lambda row: row.value or 0.0, default=None)
    if lowest is not None:
        yield (
            f"Lowest AUC of a group{few}: {NAMES[lowest.metric]} of {called_group(lowest.slice)}"
            f"{_where(lowest, rows)}, {_figure(lowest)}: {LOW[lowest.metric]}."
        )


def _gaps(record: RunRecord) -> Iterator[str]:
    """How many gaps are clearly not zero, and the largest of them."""
    rows = record.measurements
    known = [row for row in rows if row.metric in SHIFTED and row.low is not None]
    clear = [row for row in known if (row.low or 0.0) > 0 or (row.high or 0.0) < 0]
    if known:
        yield (
            f"{len(clear)} of {len(known)} gaps between groups and others are clearly not zero; if all groups were "
            f"alike, about {number(0.05 * len(known), 0 if len(known) > 20 else 1)} would seem so by chance."
        )
    if clear:
        most = max(clear, key=lambda row: abs(row.value or 0.0))
        says, _ = SHIFTED[most.metric]
        higher = "higher" if (most.value or 0.0) < 0 else "lower"
        group = f"{called_group(most.slice)}{_where(most, rows)}"
        yield f"The largest is that of {group}, {scored(most)}: {says.format(higher)}."


def _extremes(rows: Sequence[Measurement]) -> Iterator[str]:
    for row in rows:
        metric = row.metric.removeprefix("largest_difference.")
        if metric != row.metric and row.value is not None and "lowest" in row.tags:
            yield (
                f"{capital(called(metric))}{_where(row, rows)} differs by up to {number(row.value)}{_by_chance(row)}: "
                f"lowest for “{row.tags['lowest']}”, highest for “{row.tags['highest']}”."
            )


def _flips(rows: Sequence[Measurement]) -> Iterator[str]:
    for row in rows:
        if row.metric == "bias.flip_rate" and row.slice == "all":
            yield f"Another word in its place changes the label of {scored(row, percent)} of texts{_where(row, rows)}."


def charts(rows: Sequence[Measurement]) -> list[Markup]:
    """For each part and background the AUCs of every group; of the first few."""
    made = []
    for key, groups in list(_by_group(rows).items())[:MOST_CHARTS]:
        names = [f"bias.{auc}" for auc in AUCS]
        lines = [
            DotLine(name.partition("=")[2], "", tuple(figures.get(of) for of in names))
            for name, figures in groups.items()
        ]
        keys = Markup(" &nbsp; ").join(
            Markup(
                f'<span style="white-space:nowrap"><i class="key" style="background:{colour_of(place)}"></i> '
                f"{NAMES[name]}</span>"
            )
            for place, name in enumerate(names)
        )
        place, background = key
        title = escape(f"{capital(place)}, compared with {COMPARED[background]}. ")
        made.append(Markup(f'<p class="soft">{title}{keys}</p>'))
        made.append(two_widths(partial(dot_chart, lines, [NAMES[name] for name in names], "AUC, .5 is chance")))
    return made


def tables(rows: Sequence[Measurement]) -> dict[str, Table]:
    """Every table by the name of its file."""
    return {
        "groups": _groups_table(rows), "means": _means_table(rows), "side-by-side": _side_by_side(rows),
        "metrics": _metrics_table(rows), "swaps": _swaps_table(rows),
    }  # fmt: skip


def _by_group(rows: Sequence[Measurement]) -> dict[Key, dict[str, dict[str, Measurement]]]:
    """The figures of every group, by part and background."""
    groups: dict[Key, dict[str, dict[str, Measurement]]] = {}
    for row in rows:
        if row.metric in NAMES:
            of_key = groups.setdefault((_place(row), str(row.tags["background"])), {})
            of_key.setdefault(row.slice, {})[row.metric] = row
    return groups


def _groups_table(rows: Sequence[Measurement]) -> Table:
    """A line for each group: how many texts, the AUCs and gaps."""
    lines: list[tuple[Cell, ...]] = []
    for key, groups in _by_group(rows).items():
        for name, figures in groups.items():
            counts = figures["bias.subgroup_auc"].tags
            cells = (_figure(figures.get(metric)) for metric in NAMES)
            lines.append((*key, name.partition("=")[2], int(counts["positives"]), int(counts["negatives"]), *cells))
    columns = ("part", "background", "group", "positive", "negative", *NAMES.values())
    return _without_same(Table("Groups", columns, tuple(lines), _undefined(rows)))


def _means_table(rows: Sequence[Measurement]) -> Table:
    lines = [
        (
            _place(row), str(row.tags["background"]), MEANS[row.metric], _figure(row), str(row.tags["groups"]),
            _chance(row),
        )
        for row in rows
        if row.metric in MEANS
    ]  # fmt: skip
    return _without_same(
        Table("All groups", ("part", "background", "mean", "value", "groups", "by chance"), tuple(lines))
    )


def _side_by_side(rows: Sequence[Measurement]) -> Table:
    """A line for each number with a column for each part; nothing of one part."""
    names = NAMES | MEANS
    of_groups = [row for row in rows if row.metric in names]
    places = list(dict.fromkeys(map(_place, of_groups)))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in of_groups if len(places) > 1 else ():
        key = names[row.metric], row.slice, str(row.tags["background"])
        lines.setdefault(key, {})[_place(row)] = number(row.value)
    body = tuple((*key, *(cells.get(place, DASH) for place in places)) for key, cells in sorted(lines.items()))
    return Table("Parts side by side", ("number", "slice", "background", *places), body)


def _metrics_table(rows: Sequence[Measurement]) -> Table:
    lines = [
        (_place(row), row.metric, row.slice, _figure(row), row.n, _chance(row))
        for row in rows
        if "grouping" in row.tags and "background" not in row.tags
    ]
    return _without_same(
        Table("Metrics by group", ("part", "metric", "slice", "value", "texts", "by chance"), tuple(lines))
    )


def _swaps_table(rows: Sequence[Measurement]) -> Table:
    """A line for each part and slice of swaps."""
    lines: dict[Key, dict[str, Measurement]] = {}
    for row in rows:
        if row.metric in CHANGES:
            lines.setdefault((_place(row), row.slice), {})[row.metric] = row
    body: tuple[tuple[Cell, ...], ...] = tuple(
        (*key, figures["bias.flip_rate"].n, *(_figure(figures.get(change)) for change in CHANGES))
        for key, figures in lines.items()
    )
    return _without_same(Table("Swaps", ("part", "swap", "versions", *CHANGES.values()), body))


def _without_same(table: Table) -> Table:
    """The table without empty columns, and without those of parts and backgrounds that all its lines share."""
    cells = [{row[place] for row in table.rows} for place in range(len(table.columns))]
    kept = [
        place
        for place, column in enumerate(table.columns)
        if cells[place] != {""} and (column not in ("part", "background") or len(cells[place]) > 1)
    ]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    return Table(table.title, tuple(table.columns[place] for place in kept), rows, table.note)


def _undefined(rows: Sequence[Measurement]) -> str:
    """For each reason what is undefined, and of which groups."""
    reasons: dict[str, list[Measurement]] = {}
    for row in rows:
        if "undefined" in row.tags and "background" in row.tags:
            reasons.setdefault(str(row.tags["undefined"]), []).append(row)
    return " ".join(
        f"Undefined: {', '.join(dict.fromkeys((NAMES | MEANS)[row.metric] for row in of_reason))} of "
        f"{some(dict.fromkeys(called_group(row.slice) for row in of_reason))}: {reason}."
        for reason, of_reason in reasons.items()
    )


def _place(row: Measurement) -> str:
    return f"{row.tags['part']} of {row.tags['split']}" if "part" in row.tags else "all rows"


def _where(row: Measurement, rows: Sequence[Measurement]) -> str:
    """The part of a number in brackets, where there are several."""
    return f" ({_place(row)})" if len({_place(other) for other in rows}) > 1 else ""


def _chance(row: Measurement) -> str:
    return number(float(row.tags["by_chance"])) if "by_chance" in row.tags else ""


def _by_chance(row: Measurement) -> str:
    return f" (by chance about {_chance(row)})" if "by_chance" in row.tags else ""


def _figure(row: Measurement | None) -> str:
    """A number with its interval, or why it has none."""
    if row is not None and "few_texts" in row.tags and row.value is not None:
        return f"{number(row.value)} (too few texts: {row.tags['few_texts']})"
    return scored(row)
