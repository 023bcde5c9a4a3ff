"""The report of a stress run, from its folder alone."""

from __future__ import annotations

from typing import Any

from unseen.reports import tables, wording
from unseen.reports.behaviour import behaviours
from unseen.reports.behaviour_section import section
from unseen.reports.bias_section import bias_section
from unseen.reports.case import Case, cases, chance, hardest, hardest_split
from unseen.reports.fall_chart import FallBar, fall_chart
from unseen.reports.figures import MOST_POINTS, OTHER_COLOUR, class_colours, class_map, gap_chart, part_map
from unseen.reports.page import Page, flat
from unseen.reports.record import RunRecord
from unseen.reports.run import BASELINE, SplitCard, StressRun
from unseen.reports.verdict import verdict
from unseen.types import numbers

MOST_MAPS = 11
"""Maps of splits on the page; each takes up to a tenth of a megabyte."""


def page(record: RunRecord) -> Page:
    """Verdict, actions, gap, maps, splits, properties, clusters and cost of a stress run."""
    run = StressRun.of(record)
    name = str(run.about["data"].get("name", "the data"))
    return Page("stress", name, verdict(run), template="stress.html", context=context(run))


def context(run: StressRun) -> dict[str, Any]:
    """What the template shows beside what all pages have."""
    case = hardest(run)
    columns, properties = tables.property_table(run)
    steps, _ = tables.costs(run)
    return {
        "run": run,
        "data": run.about["data"],
        "name": str(run.about["data"].get("name", "the data")),
        "metric": wording.called(run.metric),
        "in_points": wording.in_points(run.metric),
        "falls": "fall" if wording.higher_is_better(run.metric) else "rise",
        "tiles": tiles(run, case),
        "parts": parts(run),
        "gap": gap(run, case),
        "maps": maps(run, case),
        "colours": class_colours(run.label_names),
        "other_colour": OTHER_COLOUR,
        "splits": tables.split_table(run),
        "columns": columns,
        "properties": properties,
        "changes": tables.changes(run),
        "results": results(run, case),
        "most_slices": tables.MOST_SLICES,
        "few": tables.FEW,
        "findings": tables.gathered(run),
        "bias": bias_section(run.measurements),
        "suites": [section(each) for each in behaviours(run.measurements)],
        "clusters": tables.cluster_cards(run, hardest_split(case) if case else None),
        "mix": tables.mix,
        "costs": steps,
        "seeds": tables.seeds(run),
        "host": flat(run.about.get("host"), "host"),
    }


def tiles(run: StressRun, case: Case | None) -> list[dict[str, str]]:
    """The numbers of the verdict, large."""
    if case is None:
        return []
    shown = [("random splits", case.random, "random"), (f"{case.family}, unseen", case.hard, "hard")]
    if case.seen is not None:
        shown.insert(1, (f"{case.family}, the rest of it seen", case.seen, "independent"))
    return [
        {"name": name, "value": numbers.number(row.value), "bounds": numbers.bounds(row), "kind": kind}
        for name, row, kind in shown
    ]


def parts(run: StressRun) -> dict[str, Any] | None:
    """What every fall is made of: a chart in two widths and its table; None without a seen control."""
    bars = {
        case: FallBar(case.family, case.selection, case.novelty, case.mislabelled)
        for case in cases(run)
        if case.selection is not None and case.novelty is not None
    }
    if not bars:
        return None
    wide, narrow = (fall_chart([*bars.values()], wording.called(run.metric), narrow=each) for each in (False, True))
    return {"wide": wide, "narrow": narrow, "cases": list(bars)}


def gap(run: StressRun, case: Case | None) -> dict[str, Any] | None:
    """The chart in two widths and its table."""
    rows = tables.gap_rows(run)
    if not rows:
        return None
    name, guessing = wording.called(run.metric), chance(run, case.family) if case else None
    return {
        "wide": gap_chart(rows, name, guessing),
        "narrow": gap_chart(rows, name, guessing, narrow=True),
        "guessing": guessing,
        "table": tables.gap_table(run),
        "others": tables.metric_table(run),
    }


def maps(run: StressRun, case: Case | None) -> dict[str, Any] | None:
    """The map by class, then one per split; the splits that matter most when there is no room for all."""
    if run.map is None or not len(run.map.points):
        return None
    first = [hardest_split(case)] if case else []
    order = [*first, *(split for split in _hard_first(run) if split not in first and split.name in run.map.parts)]
    kept = {split.name for split in order[:MOST_MAPS]}
    drawn = [split.name for split in run.splits if split.name in kept and split.name in run.map.parts]
    return {
        "classes": class_map(run.map.points, run.map.labels, run.label_names),
        "splits": [(name, part_map(run.map.points, run.map.parts[name], name)) for name in drawn],
        "rows": len(run.map.points),
        "most": MOST_POINTS,
        "left_out": len(run.splits) - len(drawn),
    }


def _hard_first(run: StressRun) -> list[SplitCard]:
    return sorted(run.splits, key=lambda split: split.family == BASELINE)


def results(run: StressRun, case: Case | None) -> list[dict[str, Any]]:
    """Per family that is not random: scores by class and by slice, the hardest family first."""
    families = [family for family in run.families if family != BASELINE]
    if case is not None:
        families.sort(key=lambda family: family != case.family)
    found = [
        {"family": family, "classes": tables.class_rows(run, family), "slices": tables.slice_rows(run, family)}
        for family in families
    ]
    return [each for each in found if each["classes"] or each["slices"]]
