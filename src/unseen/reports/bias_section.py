"""Groups compared on the parts of random and hard splits, as a part of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from markupsafe import Markup

from unseen.bias.subgroup import AUCS
from unseen.reports.formats import Cell, Table
from unseen.reports.heat_map import heat_map
from unseen.reports.page import Part, Section
from unseen.types import Measurement
from unseen.types.numbers import DASH, number, scored

TITLES = {
    "subgroup_auc": "Subgroup AUC: told apart within the group",
    "bpsn_auc": "BPSN AUC: negative texts of the group below positive ones outside it",
    "bnsp_auc": "BNSP AUC: positive texts of the group above negative ones outside it",
    "false_positive_rate": "False positive rate",
    "false_negative_rate": "False negative rate",
}
Place = tuple[str, str]
"""Family of splits, and part."""


def bias_section(rows: Sequence[Measurement]) -> Section | None:
    """A table over all groups and a heat map of each metric; None where nothing was measured."""
    grouped = [row for row in rows if "grouping" in row.tags and "family" in row.tags]
    if not grouped:
        return None
    places = list(dict.fromkeys(_place(row) for row in grouped))
    summary = _summary(grouped, places)
    intro = f"Groups by {grouped[0].tags['grouping']}. .5 is chance, 1 is perfect order; false rates are better low."
    maps = [Markup(drawn) for metric in _measured(grouped) if (drawn := _heat(grouped, metric, places))]
    parts: list[Part] = [*([summary] if summary else []), *maps]
    return Section("Is it worse on texts about some groups?", intro, parts=parts, short="Bias")


def _measured(rows: Sequence[Measurement]) -> list[str]:
    known = {row.metric.removeprefix("bias.") for row in rows}
    return [metric for metric in TITLES if metric in known]


def _place(row: Measurement) -> Place:
    return str(row.tags["family"]), str(row.tags["part"])


def _mean(rows: Iterable[Measurement]) -> float | None:
    values = [row.value for row in rows if row.value is not None]
    return float(np.mean(values)) if values else None


def _heat(rows: Sequence[Measurement], metric: str, places: Sequence[Place]) -> str | None:
    """Groups (rows) on every part (columns): the mean over trainings."""
    cells: dict[tuple[str, Place], list[Measurement]] = {}
    for row in rows:
        if row.metric.removeprefix("bias.") == metric and row.slice.startswith(f"{row.tags['grouping']}="):
            cells.setdefault((row.slice.partition("=")[2], _place(row)), []).append(row)
    groups = sorted({group for group, _ in cells})
    few = {group for (group, _), measured in cells.items() if any("few_texts" in row.tags for row in measured)}
    values = [[_mean(cells.get((group, place), ())) for place in places] for group in groups]
    if not groups or all(value is None for line in values for value in line):
        return None
    scale = (0.5, 1.0) if metric in AUCS else (0.0, 1.0)
    named = [f"{group} (too few texts)" if group in few else group for group in groups]
    return heat_map(values, named, [f"{family}, {part}" for family, part in places], title=TITLES[metric], scale=scale)


def _summary(rows: Sequence[Measurement], places: Sequence[Place]) -> Table | None:
    """The generalised means of the AUCs on every part."""
    names = [f"bias.gmb_{metric}" for metric in AUCS]
    lines: list[tuple[Cell, ...]] = []
    for place in places:
        here = {name: [row for row in rows if row.metric == name and _place(row) == place] for name in names}
        if not any(here.values()):
            continue
        first = next(row for of_metric in here.values() for row in of_metric)
        means = [_shown(of_metric) for of_metric in here.values()]
        lines.append((*place, *means, str(first.tags.get("groups", DASH)), first.n))
    if not lines:
        return None
    note = (
        "Generalised mean over groups with power −5, so the worst groups count most; mean over trainings, with the "
        "95 % interval where there is one training. Compare a hard part with a random one before blaming the model's "
        "bias: where everything is harder, groups are too."
    )
    columns = ("split", "part", "subgroup AUC", "BPSN AUC", "BNSP AUC", "groups", "texts")
    return Table("Groups, all together", columns, tuple(lines), note)


def _shown(rows: Sequence[Measurement]) -> str:
    if len(rows) == 1 and rows[0].low is not None and rows[0].high is not None:
        return scored(rows[0])
    few = [int(row.tags["few_texts"]) for row in rows if "few_texts" in row.tags]
    return number(_mean(rows)) + (f" (too few texts: {min(few)})" if few else "")
