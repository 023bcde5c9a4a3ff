"""What the falls of a run are made of, as SVG: one bar a split, in two parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unseen.reports.figures import INDEPENDENT_COLOUR, TEST_COLOUR
from unseen.reports.svg import INK, lines_of_names, name_line, svg
from unseen.reports.wording import shortened
from unseen.types import Measurement
from unseen.types.numbers import points

SELECTION_COLOUR, NOVELTY_COLOUR = INDEPENDENT_COLOUR, TEST_COLOUR
HEIGHT = 0.34
"""Of a bar, in rows."""


@dataclass(frozen=True)
class FallBar:
    """The fall of one family of splits in its parts."""

    family: str
    selection: Measurement
    novelty: Measurement
    mislabelled: float | None = None
    """Points of the fall that wrong labels account for."""


def fall_chart(bars: Sequence[FallBar], metric: str, *, narrow: bool = False) -> str:
    """A bar a family: selection from nought, novelty from there on; the end is the fall. Whiskers: 95 % intervals.

    A part below nought runs to the left. What wrong labels account for is hatched.
    """
    figure, axes = lines_of_names(len(bars), 0.78 if narrow else 0.62, 0.7, narrow, left=0.22)
    for place, bar in enumerate(bars):
        _draw(axes, bar, place + 0.12 * narrow)
        name_line(axes, bar.family, place, 0.36 if narrow else None, (16, 40))
    axes.margins(x=0.04)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlabel(shortened(f"fall of {metric}, points", 44), color=INK, fontsize=9, parse_math=False)
    numbers = "; ".join(
        f"{bar.family}: selection {points(bar.selection.value)}, novelty {points(bar.novelty.value)} points"
        for bar in bars
    )
    return svg(figure, f"Fall of {metric} in two parts, with 95 % intervals: {numbers}.")


def _draw(axes: Any, bar: FallBar, place: float) -> None:
    selection, novelty = (100 * (row.value or 0.0) for row in (bar.selection, bar.novelty))
    over, under = place - HEIGHT / 2, place + HEIGHT / 2
    # side by side where the parts point in opposite directions, so that neither hides the other
    opposed = selection * novelty < 0
    heights = (HEIGHT / 2, HEIGHT / 2) if opposed else (HEIGHT, HEIGHT)
    tops = (over, place) if opposed else (over, over)
    axes.barh(tops[0], selection, heights[0], 0, align="edge", color=SELECTION_COLOUR, linewidth=0, alpha=0.8)
    axes.barh(tops[1], novelty, heights[1], selection, align="edge", color=NOVELTY_COLOUR, linewidth=0, alpha=0.85)
    if bar.mislabelled is not None and bar.mislabelled > 0:
        hatched = {"color": "none", "edgecolor": INK, "hatch": "////", "linewidth": 0, "alpha": 0.55}
        axes.barh(tops[0], min(100 * bar.mislabelled, max(selection, 0)), heights[0], 0, align="edge", **hatched)
    for row, start, line, colour in (
        (bar.selection, 0.0, over - 0.09, SELECTION_COLOUR),
        (bar.novelty, selection, under + 0.09, NOVELTY_COLOUR),
    ):
        if row.low is not None and row.high is not None:
            ends = [start + 100 * row.low, start + 100 * row.high]
            axes.plot(ends, [line, line], color=colour, linewidth=2, solid_capstyle="round")
    axes.plot([selection + novelty] * 2, [over, under], color=INK, linewidth=1.6)
