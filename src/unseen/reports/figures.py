"""Pictures as SVG text, to be put into a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.reports.svg import FAINT, INK, lines_of_names, name_line, svg
from unseen.reports.wording import shortened
from unseen.seeding import generator
from unseen.splits.neighbours import nearest_rows
from unseen.types.numbers import number

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
class GapRow:
    """One line of the gap chart: a family's score on one part."""

    family: str
    part: str
    value: float
    low: float | None
    high: float | None
    single: tuple[float, ...]
    """Score of each run."""


def gap_chart(rows: Sequence[GapRow], metric: str, guessing: float | None = None, *, narrow: bool = False) -> str:
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


def _draw_score(axes: Any, row: GapRow, place: float) -> None:
    test = row.part == "test"
    colour = TEST_COLOUR if test else INDEPENDENT_COLOUR
    if row.low is not None and row.high is not None:
        axes.plot([row.low, row.high], [place, place], color=colour, linewidth=2.2, solid_capstyle="round", alpha=0.75)
    axes.vlines(row.single, place - 0.1, place + 0.1, color=colour, linewidth=0.9, alpha=0.8)
    axes.plot([row.value], [place], "o" if test else "D", color=colour, markersize=6.5 if test else 5)


def _scale(axes: Any, rows: Sequence[GapRow], guessing: float | None, metric: str) -> None:
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


Layer = tuple[npt.NDArray[np.float64], str | list[str], float]


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
