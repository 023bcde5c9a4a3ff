"""How deep a model that stops early went: by part or functionality, and who pays when it may use fewer layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from unseen.evaluation.depth import ACCURACY, BUDGETS, CHANGED, CONFIDENCE, ERROR, MEAN, SHARE, USED
from unseen.reports.figures import CurvePoint, Series, curve_chart
from unseen.reports.formats import Table
from unseen.reports.page import Section, two_widths
from unseen.types import Measurement
from unseen.types.numbers import number, percent, points, scored

PLACES = (("family", "part"), ("suite", "model"))
"""Tags that say where a number belongs: in a stress run, in a check."""
LINES = 6
"""Of the picture, at most."""


def depth_sections(rows: Sequence[Measurement], shown: Sequence[str] = ("test", "independent")) -> list[Section]:
    """The section about depth; nothing where no model stops early. Of several trainings, the means."""
    of_depth = [
        row for row in rows if row.metric.startswith("depth.") and row.tags.get("part", shown[0]) in shown
    ]  # fmt: skip
    if not of_depth:
        return []
    layers = max(int(row.tags["layers"]) for row in of_depth)
    places = list(dict.fromkeys((_place(row), row.slice) for row in of_depth if row.metric == MEAN))
    lines = [_line(of_depth, place, name, places) for place, name in places if name not in ("right", "wrong")]
    columns = (
        "where", "texts", f"layers of {layers}", "… right answers", "… wrong answers", "correlation with error",
        "with confidence", "answers changed",
    )  # fmt: skip
    known = [at for at in range(len(columns)) if any(line[at] for line in lines)]
    body = tuple(tuple(line[at] for at in known) for line in lines)
    table = Table("Depth", tuple(columns[at] for at in known), body, NOTE)
    return [
        Section(
            "Depth", _sentence(of_depth, layers), pictures=_picture(of_depth, layers), short="Depth",
            tables=[table, *_budget_tables(of_depth, places)], folded={"Where texts stop": [_exits(of_depth, layers)]},
        )
    ]  # fmt: skip


NOTE = (
    "Layers that ran for a text, on average. Correlations are Spearman’s: above 0, wrong answers went deeper; below 0, "
    "confident ones stopped earlier. Answers changed: those that would be others had all layers run."
)
BUDGET_NOTE = (
    "Accuracy when texts may use this share of all layers on average: one threshold for everybody, set so that the "
    "texts it is set on (dev texts, or all cases of a suite) use just that. In brackets the change against all layers, "
    "and the share that was used here: whoever loses most pays for early exits."
)


def _place(row: Measurement) -> str:
    names = next((names for names in PLACES if names[0] in row.tags), ())
    return ", ".join(str(row.tags[name]) for name in names if name in row.tags)


def _of(rows: Sequence[Measurement], metric: str, place: str, name: str = "all", **tags: float) -> list[Measurement]:
    """The rows of one place and slice, one for each training, those with a value."""
    return [
        row for row in rows
        if row.metric == metric and row.slice == name and row.value is not None and _place(row) == place
        and all(float(row.tags.get(key, np.nan)) == value for key, value in tags.items())
    ]  # fmt: skip


def _mean(rows: Sequence[Measurement]) -> float | None:
    return float(np.mean([row.value for row in rows])) if rows else None


def _shown(rows: Sequence[Measurement]) -> str:
    """The number with its interval of one training, the mean of several."""
    return scored(rows[0]) if len(rows) == 1 else number(_mean(rows))


def _where(place: str, name: str, places: Sequence[tuple[str, str]]) -> str:
    """The place, the slice of it, or the slice alone where there is one place only; functionalities by their names."""
    if name == "all":
        return place
    name = name.removeprefix("functionality=")
    return name if len({one for one, _ in places}) == 1 else f"{place}: {name}"


def _line(rows: Sequence[Measurement], place: str, name: str, places: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    every = name == "all"
    means = _of(rows, MEAN, place, name)
    of_all = [_of(rows, MEAN, place, kind) if every else [] for kind in ("right", "wrong")]
    of_all += [_of(rows, metric, place) if every else [] for metric in (ERROR, CONFIDENCE)]
    changed = _mean(_of(rows, CHANGED, place, name))
    cells = [_shown(some) if some else "" for some in (means, *of_all)]
    return (
        _where(place, name, places),
        f"{means[0].n:,}" if means else "0",
        *cells,
        "" if changed is None else percent(changed, 1),
    )


def _budget_tables(rows: Sequence[Measurement], places: Sequence[tuple[str, str]]) -> list[Table]:
    """Accuracy at budgets by place and slice; nothing where not every layer was asked."""
    lines = []
    for place, name in places:
        full = _mean(_of(rows, ACCURACY, place, name, budget=1.0))
        if full is None:
            continue
        cells = [number(full)]
        for budget in reversed(BUDGETS[:-1]):
            accuracy, used = (_mean(_of(rows, metric, place, name, budget=budget)) for metric in (ACCURACY, USED))
            assert accuracy is not None
            cells.append(f"{number(accuracy)} ({points(accuracy - full)}; {percent(used, 0)})")
        lines.append((_where(place, name, places), *cells))
    columns = ("where", "all layers", *(percent(budget, 0) for budget in reversed(BUDGETS[:-1])))
    return [Table("Accuracy at a budget of layers", columns, tuple(lines), BUDGET_NOTE)] if lines else []


def _exits(rows: Sequence[Measurement], layers: int) -> Table:
    places = list(dict.fromkeys(_place(row) for row in rows if row.metric == SHARE))
    lines = [
        (place or "all", *(percent(_mean(_of(rows, SHARE, place, layer=layer)), 0) for layer in range(1, layers + 1)))
        for place in places
    ]
    return Table("Share of texts that stop after each layer", ("where", *map(str, range(1, layers + 1))), tuple(lines))


def _picture(rows: Sequence[Measurement], layers: int) -> list[Markup]:
    """Accuracy over the layers used, a line for each place."""
    series = []
    for place in dict.fromkeys(_place(row) for row in rows if row.metric == ACCURACY):
        curve = []
        for budget in BUDGETS:
            accuracy, used = (_of(rows, metric, place, budget=budget) for metric in (ACCURACY, USED))
            low, high = (accuracy[0].low, accuracy[0].high) if len(accuracy) == 1 else (None, None)
            curve.append(CurvePoint((_mean(used) or 0.0) * layers, _mean(accuracy) or 0.0, low, high))
        series.append(Series(place or "all", tuple(sorted(curve, key=lambda point: point.x))))
    axes = ("layers used, on average", "accuracy")
    return [two_widths(lambda narrow: curve_chart(series[:LINES], *axes, narrow=narrow))] if series else []


def _sentence(rows: Sequence[Measurement], layers: int) -> str:
    """What depth says, in words: where it is deepest, and whether wrong answers go deeper."""
    means = {_place(row): _mean(_of(rows, MEAN, _place(row))) for row in rows if row.metric == MEAN}
    known = {place: mean for place, mean in means.items() if mean is not None}
    if not known:
        return ""
    parts = [f"{place or 'all texts'} {number(mean, 1)}" for place, mean in known.items()]
    sentence = f"This model stops as soon as its rule allows it. Of {layers} layers it used, on average: " + (
        "; ".join(parts) + "."
    )
    errors = [row for row in rows if row.metric == ERROR and row.low is not None]
    if errors and all((row.low or 0) > 0 for row in errors):
        sentence += " Wrong answers went deeper than right ones: depth is a warning sign."
    elif errors and not any((row.low or 0) > 0 for row in errors):
        sentence += " That wrong answers go deeper is not shown: depth is no warning sign here."
    return sentence
