"""A figure of matplotlib's as an SVG element that fits into a page."""

from __future__ import annotations

import html
import io
import re
import warnings
import zlib
from typing import Any

from unseen.reports.wording import shortened

INK, FAINT, PAPER = "#010203", "#040506", "#070809"
"""Stand-ins that become the page's own colours, which differ in the dark."""
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


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
