"""Rates with intervals, one line per name, one mark per model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unseen.reports.figures import CLASS_COLOURS, OTHER_COLOUR
from unseen.reports.svg import FAINT, INK, lines_of_names, name_line, svg
from unseen.types import Measurement
from unseen.types.numbers import number, percent

LINE, EDGE = 0.24, 0.75
"""Inches of a line, and of axis and margin together."""
MOST_LINES = 80


@dataclass(frozen=True)
class DotLine:
    """One line of the chart: a name, the group it stands in, and a rate per model."""

    name: str
    group: str
    rates: tuple[Measurement | None, ...]


def dot_chart(lines: Sequence[DotLine], models: Sequence[str], axis: str, narrow: bool = False) -> str:
    """The lines from top to bottom, a rule between groups; rates go from 0 to 1, a dotted line at one half."""
    lines = lines[:MOST_LINES]
    figure, axes = lines_of_names(len(lines), LINE * (1.6 if narrow else 1), EDGE, narrow, left=0.34)
    for place, line in enumerate(lines):
        name_line(axes, line.name, place, 0.28 if narrow else None, (30, 44))
        for column, row in enumerate(line.rates):
            _dot(axes, row, place + _aside(column, len(models)) + 0.22 * narrow, column)
        if place and line.group != lines[place - 1].group:
            axes.axhline(place - 0.5, color=FAINT, linewidth=0.5, alpha=0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda value, _: percent(value, 0))
    axes.axvline(0.5, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
    axes.set_xlabel(axis, color=INK, fontsize=9, parse_math=False)
    return svg(figure, _description(lines, models, axis))


def colour_of(place: int) -> str:
    """The colour of the model at this place."""
    return CLASS_COLOURS[place] if place < len(CLASS_COLOURS) else OTHER_COLOUR


def _aside(column: int, count: int) -> float:
    return 0.5 / max(1, count) * (column - (count - 1) / 2)


def _dot(axes: Any, row: Measurement | None, place: float, column: int) -> None:
    if row is None or row.value is None:
        return
    colour = colour_of(column)
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=1.8, solid_capstyle="round", alpha=0.55)
    axes.plot([row.value], [place], "o", color=colour, markersize=5)


def _description(lines: Sequence[DotLine], models: Sequence[str], axis: str) -> str:
    texts = [
        f"{line.name} " + ", ".join(number(row.value if row else None) for row in line.rates) for line in lines
    ]  # fmt: skip
    texts += [] if len(lines) < MOST_LINES else ["more are in the table"]
    return f"{axis}, for {', '.join(models)}: {'; '.join(texts)}. The table has the same numbers."
