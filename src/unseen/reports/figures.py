"""Pictures as SVG text that fits into a page: maps, falls, rates with intervals, and scores over a number.

Scores are drawn over the distance between training and test, the value of a setting, or the power of class weights.
"""

from __future__ import annotations

import html
import io
import re
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError
from unseen.evaluation.class_weights import AlphaSweep
from unseen.evaluation.rankings import not_apart
from unseen.evaluation.wording import shortened
from unseen.seeding import generator
from unseen.splits.neighbours import nearest_rows
from unseen.types import Measurement
from unseen.types.numbers import MINUS, number

INK, FAINT, PAPER = "#010203", "#040506", "#070809"
"""Stand-ins that become the page's own colours, which differ in the dark."""
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
TRAIN_COLOUR, TEST_COLOUR, INDEPENDENT_COLOUR = "#9aa5b1", "#d55e00", "#3b8fd4"
CLASS_COLOURS = ("#3b8fd4", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#a08c00")
"""Told apart by colour-blind readers (after Okabe and Ito), visible on light and on dark paper."""
OTHER_COLOUR = "#8a929c"
"""Classes beyond the palette."""
BOTH_COLOUR = "#7b828d"
"""Rows that two splits test."""
MOST_POINTS = 4_000
"""Points of a picture, and rows that are laid out in the plane."""
BESIDE, SAME = 3, 1e-5
"""Rows that another one is placed between, and the distance at which two are the same."""
Layer = tuple[npt.NDArray[np.float64], str | list[str], float]
LINE, EDGE = 0.24, 0.75
"""Inches of a line, and of axis and margin together."""
MOST_LINES = 80
MARKERS = "oDs^vPX"
"""A series is told by its shape as well as by its colour."""
BELOW, ABOVE, KEY = 0.5, 0.3, 0.24
"""Inches for what stands under the chart, for its title, and for a row of keys."""
LONG_KEY = 18
"""Characters of a key from which on two do not stand side by side on a telephone."""
MOST_TICKS = 8
"""Up to so many places of a logarithmic axis are named, each where something was measured."""
NARROWEST = 0.08
"""Share of such an axis that a name needs."""
STEPS = 100
"""Pieces that a curve which is known everywhere is drawn with."""


def bare_axes(axes: Any, rules: str) -> None:
    """Light rules across the axis `rules` (x or y), its numbers, and nothing else."""
    axes.grid(axis=rules, color=FAINT, linewidth=0.5, alpha=0.45)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, colors=INK, labelsize=9, which="both")
    axes.patch.set_alpha(0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def lines_of_names(count: int, room: float, edge: float, narrow: bool, left: float) -> tuple[Any, Any]:
    """A figure with `count` lines of `room` inches, `edge` inches around them, and its axes.

    Names stand to the left of their lines, on a share `left` of the width; on a telephone above them.
    """
    from matplotlib.figure import Figure

    height = room * count + edge
    figure = Figure(figsize=(3.7 if narrow else 7.6, height))
    figure.patch.set_alpha(0)
    left = 0.02 if narrow else left
    axes = figure.add_axes((left, 0.53 / height, 0.96 - left, 1 - (edge - 0.1) / height))
    axes.set_ylim(count - 0.45, -0.55)
    axes.set_yticks([])
    bare_axes(axes, "x")
    return figure, axes


def name_line(axes: Any, name: str, place: float, above: float | None, room: tuple[int, int]) -> None:
    """Write the name of a line left of it, or `above` it; `room` is how many letters fit in either case."""
    look: dict[str, Any] = {"color": INK, "va": "center", "parse_math": False, "transform": axes.get_yaxis_transform()}
    if above is None:
        axes.text(-0.02, place, shortened(name, room[0]), ha="right", **look)
    else:
        ground = {"facecolor": PAPER, "linewidth": 0, "pad": 1}
        axes.text(0.0, place - above, shortened(name, room[1]), ha="left", bbox=ground, **look)


def svg(figure: Any, description: str) -> str:
    """The figure as an SVG element with a description for those who do not see it; the same bytes every time."""
    from matplotlib import rc_context

    buffer = io.StringIO()
    with rc_context({"svg.hashsalt": "unseen", "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)  # the browser's fonts draw the text
        figure.savefig(buffer, format="svg", dpi=110, metadata=NO_METADATA)
    drawn = re.sub(r"<style.*?</style>", "", buffer.getvalue(), flags=re.DOTALL)
    drawn = drawn[drawn.index("<svg") :]
    key = f"{zlib.crc32(f'{description} {figure.get_figwidth()}'.encode()):08x}"
    # matplotlib writes no < or > into texts, so what is between them is a tag
    drawn = re.sub(r"<[^>]+>", lambda tag: _at_home(tag[0], key), drawn)
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{html.escape(description)}" ', 1)


def _at_home(tag: str, key: str) -> str:
    """A tag of matplotlib's that fits into a page: the page's font and colours, ids of its own, no fixed size."""
    if tag.startswith("<svg"):
        tag = re.sub(r' (width|height)="[^"]*"', "", tag)
    tag = re.sub(r' id="(figure|axes|patch|line2d|text|matplotlib|xtick|ytick|\w*Collection)[\w.]*"', "", tag)
    tag = re.sub(r' id="', f' id="{key}', tag)
    tag = re.sub(r'(href="#|url\(#)', rf"\g<1>{key}", tag)
    tag = re.sub(r"font-family: [^;]*;", "font-family: inherit;", tag)
    return tag.replace(INK, "currentColor").replace(FAINT, "var(--soft)").replace(PAPER, "var(--paper)")


def plane(vectors: npt.NDArray[np.float32], seed: int = 42) -> npt.NDArray[np.float64]:
    """Two coordinates per row by t-SNE, by principal components for fewer than ten.

    Of many rows some thousand are laid out; every other one comes between those of them that it is most like.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if len(vectors) < 10:
        return PCA(2, random_state=seed).fit_transform(vectors)
    chosen = np.sort(generator(seed, "map").permutation(len(vectors))[:MOST_POINTS])
    some = np.asarray(vectors[chosen])
    layout = TSNE(2, metric="cosine", init="pca", random_state=seed, perplexity=min(30, len(some) // 4))
    points = layout.fit_transform(some)
    if len(chosen) == len(vectors):
        return points
    near, cosines = nearest_rows(vectors, np.arange(len(vectors)), chosen, BESIDE)
    weights = 1 / np.maximum(1 - cosines, SAME)  # a row that is laid out is nearest to itself
    places = points[np.searchsorted(chosen, near)]
    return np.asarray((weights[:, :, None] * places).sum(axis=1) / weights.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ScoreRow:
    """One line of the chart of scores: a family's score on one part."""

    family: str
    part: str
    value: float
    low: float | None
    high: float | None
    single: tuple[float, ...]
    """Score of each run."""


def score_chart(rows: Sequence[ScoreRow], metric: str, guessing: float | None = None, narrow: bool = False) -> str:
    """Scores of each family, test part over independent part, with whiskers; ticks are single runs.

    The narrow form has room for a telephone: names stand above their lines.
    """
    families = list(dict.fromkeys(row.family for row in rows))
    figure, axes = lines_of_names(len(families), 0.62 if narrow else 0.46, 0.75, narrow, left=0.22)
    for row in rows:
        place = families.index(row.family) + (0.13 if row.part == "independent" else -0.13) + 0.1 * narrow
        _draw_score(axes, row, place)
    for place, family in enumerate(families):
        name_line(axes, family, place, 0.3 if narrow else None, (16, 40))
    if guessing is not None:
        axes.axvline(guessing, color=FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=0)
    _scale(axes, rows, guessing, metric)
    scores = ", ".join(f"{row.family} {row.part} {number(row.value)}" for row in rows)
    return svg(figure, f"{metric} with 95 % intervals: {scores}. The table below has the same numbers.")


def _draw_score(axes: Any, row: ScoreRow, place: float) -> None:
    test = row.part == "test"
    colour = TEST_COLOUR if test else INDEPENDENT_COLOUR
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2.2, solid_capstyle="round", alpha=0.75)
    axes.vlines(row.single, place - 0.1, place + 0.1, color=colour, linewidth=0.9, alpha=0.8)
    axes.plot([row.value], [place], "o" if test else "D", color=colour, markersize=6.5 if test else 5)


def _scale(axes: Any, rows: Sequence[ScoreRow], guessing: float | None, metric: str) -> None:
    """A horizontal scale of round numbers."""
    values = [value for row in rows for value in (row.value, row.low, row.high, *row.single) if value is not None]
    low, high = min([*values, guessing or values[0]]), max(values)
    pad = 0.06 * (high - low) + 0.01
    axes.set_xlim(low - pad, high + pad)
    axes.xaxis.set_major_formatter(lambda tick, _: number(tick, 1 if round(tick * 10, 6) % 1 == 0 else 2))
    axes.locator_params(axis="x", nbins=7)
    axes.set_xlabel(shortened(metric, 40), color=INK, fontsize=9, parse_math=False)


def class_map(points: npt.NDArray[np.float64], labels: npt.NDArray[np.str_], names: Sequence[str]) -> str:
    """Every point in the colour of its class, drawn in an order that hides no class behind another."""
    colours = class_colours(names)
    shown = _shown(len(points))
    drawn = [colours.get(str(label), OTHER_COLOUR) for label in labels[shown]]
    return _scattered([(points[shown], drawn, 0.75)], f"Map of the texts by class: {', '.join(names)}.")


def part_map(points: npt.NDArray[np.float64], parts: npt.NDArray[np.str_], name: str) -> str:
    """Test rows of one split in colour over all others in grey."""
    shown = _shown(len(points))
    test = parts[shown] == "test"
    layers: list[Layer] = [
        (points[shown][~test], TRAIN_COLOUR, 0.4),
        (points[shown][test], TEST_COLOUR, 0.85),
    ]
    return _scattered(layers, f"Map of the texts for the split {name}: test rows in orange, all others in grey.")


def shared_map(
    points: npt.NDArray[np.float64], a: npt.NDArray[np.str_], b: npt.NDArray[np.str_], names: tuple[str, str]
) -> str:
    """Test rows of one split in orange, of another in blue, of both in grey, over all others, faint.

    `points` are one model's, `a` and `b` the parts of its rows in the two splits.
    """
    in_a, in_b = a == "test", b == "test"
    colours = np.where(in_a & in_b, BOTH_COLOUR, np.where(in_a, TEST_COLOUR, INDEPENDENT_COLOUR))
    shown = _shown(len(points))
    tested = shown[(in_a | in_b)[shown]]
    layers: list[Layer] = [
        (points[np.setdiff1d(shown, tested)], TRAIN_COLOUR, 0.15),
        (points[tested], colours[tested].tolist(), 0.85),
    ]
    counts = [int(np.sum(rows)) for rows in (in_a & ~in_b, in_b & ~in_a, in_a & in_b)]
    return _scattered(
        layers,
        f"Map of the texts for two splits: {counts[0]} test rows of {names[0]} alone in orange, {counts[1]} of "
        f"{names[1]} alone in blue, {counts[2]} of both in grey, all others faint.",
    )


def class_colours(names: Sequence[str]) -> dict[str, str]:
    """A colour per class; classes beyond the palette share one."""
    palette = CLASS_COLOURS + (OTHER_COLOUR,) * len(names)
    return dict(zip(names, palette, strict=False))


def _scattered(layers: Sequence[Layer], description: str) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.2, 3.0))
    figure.patch.set_alpha(0)
    axes = figure.add_axes((0, 0, 1, 1))
    count = sum(len(points) for points, _, _ in layers)
    size = min(14.0, max(4.0, 12_000 / max(1, count)))  # few points are drawn larger
    for points, colour, alpha in layers:
        x, y = points.T
        axes.scatter(x, y, s=size, c=colour, alpha=alpha, linewidths=0, rasterized=True)
    axes.set_axis_off()
    return svg(figure, description)


def _shown(count: int, seed: int = 42) -> npt.NDArray[np.intp]:
    """Rows to draw, in the order of drawing."""
    return np.random.default_rng(seed).permutation(count)[:MOST_POINTS]


@dataclass(frozen=True)
class DotLine:
    """One line of the chart: a name, the group it stands in, and a rate per model."""

    name: str
    group: str
    rates: tuple[Measurement | None, ...]


def dot_chart(
    lines: Sequence[DotLine],
    models: Sequence[str],
    axis: str,
    narrow: bool = False,
    write: Callable[[float | None], str] = number,
) -> str:
    """The lines from top to bottom, a rule between groups; rates go from 0 to 1, a dotted line at one half."""
    cut, lines = len(lines) > MOST_LINES, lines[:MOST_LINES]
    figure, axes = lines_of_names(len(lines), LINE * (1.6 if narrow else 1), EDGE, narrow, left=0.34)
    for place, line in enumerate(lines):
        name_line(axes, line.name, place, 0.28 if narrow else None, (30, 44))
        for column, row in enumerate(line.rates):
            _dot(axes, row, place + _mark_aside(column, len(models)) + 0.22 * narrow, column)
        if place and line.group != lines[place - 1].group:
            axes.axhline(place - 0.5, color=FAINT, linewidth=0.5, alpha=0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.xaxis.set_major_formatter(lambda value, _: write(value))
    axes.axvline(0.5, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
    axes.set_xlabel(axis, color=INK, fontsize=9, parse_math=False)
    return svg(figure, _dots_in_words(lines, models, axis, cut, write))


def rank_chart(ranked: Sequence[tuple[str, Measurement]], apart: float | None, title: str, narrow: bool = False) -> str:
    """Models from the best average rank down, with intervals; a bar joins those that are within `apart` of each other.

    That is the picture of critical differences, with a line for each model.
    """
    models = len(ranked)
    averages = [row.value or 0.0 for _, row in ranked]
    groups = [] if apart is None else not_apart(averages, apart)
    figure, axes = lines_of_names(models, 0.62 if narrow else 0.4, 0.75, narrow, left=0.24)
    for place, (name, row) in enumerate(ranked):
        name_line(axes, name, place, 0.3 if narrow else None, (22, 40))
        _dot(axes, row, place + 0.12 * narrow, 0)
    room = 0.12 * (models - 1)
    for column, group in enumerate(groups):
        side = models + room * (column + 1)
        ends = [place + 0.12 * narrow for place in (min(group), max(group))]
        axes.plot([side, side], ends, color=INK, linewidth=3.2, solid_capstyle="round")
    axes.set_xlim(1 - room / 2, models + room * (len(groups) + 1))
    axes.set_xticks(range(1, models + 1))
    axes.set_xlabel("average rank, 1 is the best", color=INK, fontsize=9)
    in_words = "; ".join(f"{name} {number(row.value)}" for name, row in ranked)
    joined = "; ".join(", ".join(ranked[place][0] for place in group) for group in groups) or "none"
    return svg(figure, f"{title}, average ranks: {in_words}. Not told apart: {joined}. The table has the same numbers.")


def colour_of(place: int) -> str:
    """The colour of the model at this place."""
    return CLASS_COLOURS[place] if place < len(CLASS_COLOURS) else OTHER_COLOUR


def _mark_aside(column: int, count: int) -> float:
    return 0.5 / max(1, count) * (column - (count - 1) / 2)


def _dot(axes: Any, row: Measurement | None, place: float, column: int) -> None:
    if row is None or row.value is None:
        return
    colour = colour_of(column)
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=1.8, solid_capstyle="round", alpha=0.55)
    axes.plot([row.value], [place], "o", color=colour, markersize=5)


def _dots_in_words(
    lines: Sequence[DotLine], models: Sequence[str], axis: str, cut: bool, write: Callable[[float | None], str]
) -> str:
    texts = [f"{line.name} " + ", ".join(write(row.value if row else None) for row in line.rates) for line in lines]
    texts += ["more are in the table"] if cut else []
    return f"{axis}, for {', '.join(models)}: {'; '.join(texts)}. The table has the same numbers."


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
    logarithmic: bool = False,
    narrow: bool = False,
    marked: bool = True,
) -> str:
    """A line per series over what `x` names, with whiskers for intervals.

    Points are joined in the order of `x`. Where whiskers of two series would hide each other they stand side
    by side. The narrow form has room for a telephone. The lines between points are there to lead the eye:
    nothing was measured there. Curves that are known everywhere are not `marked`: they have no marks and stand where
    they are.
    """
    shown = [line for line in series if line.points]
    places = _places(shown, logarithmic)
    width, plot, columns = (3.7, 2.3, 2) if narrow else (7.6, 2.9, 4)
    if narrow and any(len(line.name) >= LONG_KEY for line in shown):
        columns = 1
    keys = -(-len(shown) // columns) if len(shown) > 1 else 0
    figure, axes = _empty(width, plot, KEY * keys)
    if logarithmic:
        axes.set_xscale("log")
    _bare(axes, x, metric, places)
    for place, line in enumerate(shown):
        _draw(axes, line, _look(line, place, marked), _series_aside(place, len(shown)) if marked else 0.0)
    _write_scores(axes)
    if keys:
        _keys(axes, columns, 1 + ABOVE / plot)
    return svg(figure, _curves_in_words(shown, x, metric))


@dataclass(frozen=True)
class CostMark:
    """A model of the Pareto picture: what it costs, what it scores, and whether another one makes it needless."""

    name: str
    cost: Measurement
    score: Measurement
    dominated: bool


def pareto_chart(marks: Sequence[CostMark], cost: str, score: str, *, narrow: bool = False) -> str:
    """Scores over costs on a logarithmic axis, with whiskers both ways; a line joins those that nobody dominates.

    Dominated models are hollow. Numbers in the picture stand for the names in its key.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    width, plot = (3.7, 2.6) if narrow else (7.6, 3.2)
    columns = 1 if narrow else 2
    figure, axes = _empty(width, plot, KEY * -(-len(marks) // columns))
    _bare(axes, cost, score, [])
    axes.set_xscale("log")
    costs = [float(mark.cost.value or 0) for mark in marks]
    wide = max(costs) > 10 * min(costs)
    axes.xaxis.set_major_locator(
        LogLocator(subs=(1, 2, 5), numticks=6 if narrow else 12) if wide else MaxNLocator(4 if narrow else 6)
    )
    axes.xaxis.set_major_formatter(lambda value, _: _place(value))
    axes.xaxis.set_minor_locator(NullLocator())
    for place, mark in enumerate(marks):
        colour, (x, y) = colour_of(place), (float(mark.cost.value or 0), float(mark.score.value or 0))
        whisker = {"color": colour, "linewidth": 2.2, "solid_capstyle": "round", "alpha": 0.55}
        if mark.score.low is not None and mark.score.high is not None:
            axes.plot([x, x], [mark.score.low, mark.score.high], **whisker)
        if mark.cost.low is not None and mark.cost.high is not None:
            axes.plot([mark.cost.low, mark.cost.high], [y, y], **whisker)
        axes.plot(
            [x], [y], MARKERS[place % len(MARKERS)], color=colour, markersize=7, linestyle="none",
            markerfacecolor=PAPER if mark.dominated else colour, label=f"{place + 1} {shortened(mark.name, 42)}",
        )  # fmt: skip
        axes.annotate(
            str(place + 1), (x, y), xytext=(6, 5), textcoords="offset points", fontsize=9, color=INK, parse_math=False
        )
    front = sorted((mark for mark in marks if not mark.dominated), key=lambda mark: mark.cost.value or 0)
    places = [[float(getattr(mark, side).value or 0) for mark in front] for side in ("cost", "score")]
    axes.plot(*places, color=FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    _write_scores(axes)
    _keys(axes, columns, 1 + ABOVE / plot, 44)
    in_words = "; ".join(
        f"{mark.name}: {mark.cost.value:.3g}, {number(mark.score.value)}{', dominated' if mark.dominated else ''}"
        for mark in marks
    )
    return svg(figure, f"{score} over {cost}. {in_words}. The tables have the same numbers.")


def alpha_chart(sweep: AlphaSweep, metric: str, narrow: bool = False) -> str:
    """A curve per model over α, the power of its rows that a class weighs by; a rule where the winner changes.

    At 0 it is macro, at 0.75 dodrans, at 1 weighted. The curves are known everywhere, so nothing on them is a guess.
    """
    alphas = np.linspace(0, 1, STEPS + 1)
    scores = np.array([sweep.at(alpha) for alpha in alphas]).T  # [models, α]
    width, plot, columns = (3.7, 2.5, 2) if narrow else (7.6, 2.9, 4)
    keys = -(-len(sweep.models) // columns) if len(sweep.models) > 1 else 0
    figure, axes = _empty(width, plot, KEY * keys, below=BELOW + 0.16)
    for place, (model, values) in enumerate(zip(sweep.models, scores, strict=True)):
        dashes = "-" if place < len(CLASS_COLOURS) else (0, (5, 2))
        axes.plot(alphas, values, color=colour_of(place), linewidth=1.6, linestyle=dashes, label=model)
    _bare(axes, "α: a class weighs rows to the power of α", metric, [])
    axes.margins(0.08 if narrow else 0.03, 0.08)  # the outer names need room
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0\nmacro", ".25\n ", ".5\n ", ".75\ndodrans", "1\nweighted"])
    _write_scores(axes)
    _mark_changes(axes, sweep)
    if keys:
        _keys(axes, columns, 1 + ABOVE / plot)
    return svg(figure, _sweep_in_words(sweep, metric))


def _mark_changes(axes: Any, sweep: AlphaSweep) -> None:
    """A rule and a dot where the winner changes, with the place; a place too near the one before has none."""
    named = -1.0
    for change in sweep.changes:
        score = float(sweep.at(change.alpha).max())
        axes.axvline(change.alpha, color=INK, linewidth=0.9, linestyle=(0, (2, 2)), zorder=0)
        axes.plot([change.alpha], [score], "o", color=INK, markersize=4.5)
        if change.alpha - named >= 2 * NARROWEST:
            side = "right" if change.alpha > 0.85 else "left"
            axes.annotate(
                number(change.alpha), (change.alpha, 0), xycoords=("data", "axes fraction"), fontsize=9, color=INK,
                xytext=(-4 if side == "right" else 4, 5), textcoords="offset points", ha=side,
            )  # fmt: skip
            named = change.alpha


def _sweep_in_words(sweep: AlphaSweep, metric: str) -> str:
    ends = [
        f"{model}: {', '.join(f'{number(float(sweep.at(alpha)[place]))} at {_place(alpha)}' for alpha in (0, 0.75, 1))}"
        for place, model in enumerate(sweep.models)
    ]
    changes = [f"at {number(change.alpha, 3)} from {change.before} to {change.after}" for change in sweep.changes]
    winner = f"The winner changes {', '.join(changes)}" if changes else "The winner is the same for every power"
    return f"{metric} over the power of its rows that a class weighs by. {'; '.join(ends)}. {winner}."


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


def _empty(width: float, plot: float, keys: float, below: float = BELOW) -> tuple[Any, Any]:
    """A figure `width` inches wide with room above and below axes `plot` inches high."""
    from matplotlib.figure import Figure

    height = plot + below + ABOVE + keys
    figure = Figure(figsize=(width, height))
    figure.patch.set_alpha(0)
    left = 0.45 / width
    return figure, figure.add_axes((left, below / height, 0.97 - left, plot / height))


def _look(series: Series, place: int, marked: bool) -> dict[str, Any]:
    """Colour, line and mark of the series at a place."""
    if series.dashed:
        return {"color": FAINT, "linewidth": 1.0, "linestyle": (0, (4, 3))}
    return {"color": colour_of(place), "linewidth": 1.3, "marker": MARKERS[place % len(MARKERS)] if marked else None}


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


def _series_aside(place: int, count: int) -> float:
    """Points of the page by which a series stands aside, so that its whiskers hide no others; six at most."""
    return min(3.0, 12 / max(1, count - 1)) * (place - (count - 1) / 2)


def _write_scores(axes: Any) -> None:
    """The numbers of the upright axis with as many decimals as tell them apart."""
    ticks = axes.get_yticks()
    step = float(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.1
    decimals = max(0, -floor(log10(step) + 1e-9))
    axes.yaxis.set_major_formatter(lambda value, _: number(value, decimals))


def _keys(axes: Any, columns: int, above: float, room: int = 20) -> None:
    handles, names = axes.get_legend_handles_labels()
    legend = axes.legend(
        handles, [shortened(name, room) for name in names], ncols=columns, loc="lower left",
        bbox_to_anchor=(0, above), frameon=False, fontsize=9, labelcolor=INK, borderaxespad=0, borderpad=0,
        handlelength=1.6,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set_parse_math(False)


def _place(value: float) -> str:
    """A number of the level axis as it is, without the zero before its point."""
    digits = f"{abs(value):g}"
    return (MINUS if value < 0 else "") + (digits[1:] if digits.startswith("0.") else digits)


def _curves_in_words(series: Sequence[Series], x: str, metric: str) -> str:
    lines = []
    for line in series:
        points = sorted(line.points, key=lambda point: point.x)
        lines.append(f"{line.name}: " + ", ".join(f"{number(one.value)} at {_place(one.x)}" for one in points))
    return f"{metric} over {x}. {'; '.join(lines)}."
