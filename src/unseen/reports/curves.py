"""Scores over a number, as SVG: the distance between training and test, or the value of a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from unseen.errors import InputError
from unseen.reports.figures import CLASS_COLOURS, OTHER_COLOUR
from unseen.reports.svg import FAINT, INK, bare_axes, svg
from unseen.reports.wording import shortened
from unseen.types.numbers import MINUS, number

MARKERS = "oDs^vPX"
"""A series is told by its shape as well as by its colour."""
BELOW, ABOVE, KEY = 0.5, 0.3, 0.24
"""Inches for what stands under the chart, for its title, and for a row of keys."""
MOST_TICKS = 8
"""Up to so many places of a logarithmic axis are named, each where something was measured."""


NARROWEST = 0.08
"""Share of such an axis that a name needs."""


@dataclass(frozen=True)
class CurvePoint:
    """A score at one place, with its interval when there is one."""

    x: float
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Series:
    """One line of the chart."""

    name: str
    points: tuple[CurvePoint, ...]
    dashed: bool = False
    """Thin and grey: what the others are to be compared with."""


def curve_chart(
    series: Sequence[Series],
    x: str,
    metric: str,
    *,
    guessing: float | None = None,
    logarithmic: bool = False,
    narrow: bool = False,
    marked: bool = True,
) -> str:
    """A line per series over what `x` names, with whiskers for intervals; `guessing` is a dashed rule.

    Points are joined in the order of `x`. Where whiskers of two series would hide each other they stand side
    by side. The narrow form has room for a telephone. The lines between points are there to lead the eye:
    nothing was measured there. Curves that are known everywhere are not `marked`: they have no marks and stand where
    they are.
    """
    shown = [line for line in series if line.points]
    places = _places(shown, logarithmic)
    width, plot, columns = (3.7, 2.3, 2) if narrow else (7.6, 2.9, 4)
    keys = -(-len(shown) // columns) if len(shown) > 1 else 0
    figure, axes = _empty(width, plot, KEY * keys)
    if logarithmic:
        axes.set_xscale("log")
    _bare(axes, x, metric, places)
    for place, line in enumerate(shown):
        _draw(axes, line, _look(line, place, marked), _aside(place, len(shown)) if marked else 0.0)
    if guessing is not None:
        axes.axhline(guessing, color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=0)
    _write_scores(axes)
    if keys:
        _keys(axes, columns, 1 + ABOVE / plot)
    return svg(figure, _description(shown, x, metric))


def _places(series: Sequence[Series], logarithmic: bool) -> list[float]:
    """Where something was measured, from left to right."""
    places = sorted({point.x for line in series for point in line.points})
    if not places:
        raise InputError("there is nothing to draw", expected="a series with a point")
    if logarithmic and places[0] <= 0:
        raise InputError("a logarithmic axis has no room for 0 and below", got=str(places[0]))
    return places


def _apart(places: Sequence[float]) -> list[float]:
    """The places of a logarithmic axis whose names do not stand on each other.

    >>> _apart([10, 90, 100, 1000])
    [10, 90, 1000]
    """
    named = [places[0]]
    for place in places[1:]:
        if log10(place / named[-1]) >= NARROWEST * log10(places[-1] / places[0]):
            named.append(place)
    return named


def _empty(width: float, plot: float, keys: float) -> tuple[Any, Any]:
    """A figure `width` inches wide with room above and below axes `plot` inches high."""
    from matplotlib.figure import Figure

    height = plot + BELOW + ABOVE + keys
    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0)
    left = 0.45 / width
    return figure, figure.add_axes((left, BELOW / height, 0.97 - left, plot / height))


def _look(series: Series, place: int, marked: bool) -> dict[str, Any]:
    """Colour, line and mark of the series at a place."""
    if series.dashed:
        return {"color": FAINT, "linewidth": 1.0, "linestyle": (0, (4, 3))}
    colour = CLASS_COLOURS[place] if place < len(CLASS_COLOURS) else OTHER_COLOUR
    return {"color": colour, "linewidth": 1.3, "marker": MARKERS[place % len(MARKERS)] if marked else None}


def _draw(axes: Any, series: Series, look: Mapping[str, Any], aside: float) -> None:
    """Line, marks and whiskers, `aside` of their true places by so many points of the page."""
    from matplotlib.transforms import ScaledTranslation

    points = sorted(series.points, key=lambda point: point.x)
    moved = axes.transData + ScaledTranslation(aside / 72, 0, axes.figure.dpi_scale_trans)
    whisker = {"color": look["color"], "linewidth": 2.2, "solid_capstyle": "round", "alpha": 0.55}
    for point in points:
        if point.low is not None and point.high is not None:
            axes.plot([point.x] * 2, [point.low, point.high], transform=moved, **whisker)
    axes.plot(
        [point.x for point in points], [point.value for point in points], markersize=5.5, label=series.name,
        transform=moved, **look,
    )  # fmt: skip
    # a moved line does not widen the axes by itself
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    axes.update_datalim([(points[0].x, min(ends)), (points[-1].x, max(ends))])
    axes.autoscale_view()


def _bare(axes: Any, x: str, metric: str, places: Sequence[float]) -> None:
    """Round numbers, light rules across, and nothing else."""
    from matplotlib.ticker import MaxNLocator

    axes.margins(0.06, 0.08)
    bare_axes(axes, "y")
    axes.yaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10]))
    if axes.get_xscale() == "log" and len(places) <= MOST_TICKS:
        axes.set_xticks(_apart(places))
        axes.set_xticks([], minor=True)
    elif axes.get_xscale() == "linear":
        axes.locator_params(axis="x", nbins=6)
    axes.xaxis.set_major_formatter(lambda value, _: _place(value))
    axes.set_xlabel(shortened(x, 50), color=INK, fontsize=9, parse_math=False)
    axes.set_title(shortened(metric, 40), color=INK, fontsize=9, loc="left", pad=4, parse_math=False)


def _aside(place: int, count: int) -> float:
    """Points of the page by which a series stands aside, so that its whiskers hide no others; six at most."""
    return min(3.0, 12 / max(1, count - 1)) * (place - (count - 1) / 2)


def _write_scores(axes: Any) -> None:
    """The numbers of the upright axis with as many decimals as tell them apart."""
    ticks = axes.get_yticks()
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.1
    decimals = max(0, -floor(log10(step) + 1e-9))
    axes.yaxis.set_major_formatter(lambda value, _: number(value, decimals))


def _keys(axes: Any, columns: int, above: float) -> None:
    handles, names = axes.get_legend_handles_labels()
    legend = axes.legend(
        handles, [shortened(name, 20) for name in names], ncols=columns, loc="lower left",
        bbox_to_anchor=(0, above), frameon=False, fontsize=9, labelcolor=INK, borderaxespad=0, borderpad=0,
        handlelength=1.6,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _place(value: float) -> str:
    """A number of the level axis as it is, without the zero before its point."""
    digits = f"{abs(value):g}"
    return (MINUS if value < 0 else "") + (digits[1:] if digits.startswith("0.") else digits)


def _description(series: Sequence[Series], x: str, metric: str) -> str:
    lines = []
    for line in series:
        points = sorted(line.points, key=lambda point: point.x)
        lines.append(f"{line.name}: " + ", ".join(f"{number(one.value)} at {_place(one.x)}" for one in points))
    return f"{metric} over {x}. {'; '.join(lines)}."
