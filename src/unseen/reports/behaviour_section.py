"""What models pass of a suite, as a part of a page."""

from __future__ import annotations

from typing import Any

from unseen.reports import behaviour
from unseen.reports.behaviour import Behaviour
from unseen.reports.dot_chart import MOST_LINES, DotLine, colour_of, dot_chart
from unseen.reports.heat_map import heat_map


def section(of: Behaviour) -> dict[str, Any]:
    """What the templates show of one suite."""
    lines = [
        DotLine(
            name.partition("=")[2], str(row.tags.get("class", "")), tuple(of.rate(name, model) for model in of.models)
        )
        for name, row in of.of_axis("functionality").items()
    ]
    axis = "share of cases passed"
    return {
        "suite": of.suite,
        "headlines": [behaviour.headline(of, model) for model in of.models],
        "kinds": behaviour.kinds_of_failure(of),
        "models": [(name or "model", colour_of(place)) for place, name in enumerate(of.models)],
        "left_out": max(0, len(lines) - MOST_LINES),
        "wide": dot_chart(lines, of.models, axis),
        "narrow": dot_chart(lines, of.models, axis, narrow=True),
        "functionalities": behaviour.functionality_table(of),
        "axes": [behaviour.axis_table(of, axis) for axis in of.axes],
        "pairs": behaviour.pair_table(of),
        "comparison": behaviour.comparison_table(of),
        "targets": [drawn for model in of.models if (drawn := _targets(of, model))],
        "caution": behaviour.CAUTION,
    }


def _targets(of: Behaviour, model: str) -> str | None:
    matrix = behaviour.target_matrix(of, model)
    if matrix is None:
        return None
    rows, columns, values = matrix
    title = f"{model or 'model'}: share passed by functionality and target"
    return heat_map(values, rows, columns, title=title, scale=(0.0, 1.0))
