"""A figure of matplotlib's as an SVG element that fits into a page."""

from __future__ import annotations

import html
import io
import re
import warnings
import zlib
from typing import Any

INK, FAINT, PAPER = "#010203", "#040506", "#070809"
"""Stand-ins that become the page's own colours, which differ in the dark."""
NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))


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
