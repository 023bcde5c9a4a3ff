"""A table whose cells are coloured by their numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from math import isfinite

import numpy as np

from unseen.errors import InputError
from unseen.types.numbers import number

RAMP = np.array([(247, 251, 255), (107, 174, 214), (8, 48, 107)], np.float64)
"""Light to dark blue (ColorBrewer): ordered for colour-blind readers and in print."""
CELL = "text-align:center;min-width:3.4rem;padding:.35rem .5rem;border:1px solid var(--line);print-color-adjust:exact"
HEAD = "text-align:center;white-space:normal;max-width:7rem;padding:.35rem .5rem"


def heat_map(
    matrix: Sequence[Sequence[float | None]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    title: str,
    scale: tuple[float, float] | None = None,
    write: Callable[[float], str] = number,
) -> str:
    """An HTML table in a container that scrolls: low numbers on light blue, high ones on dark.

    Every number stands in its cell as `write` writes it, in black or white, whichever is read more easily;
    a number that is missing (None or not finite) leaves a cell without colour. `scale` is what counts as
    lowest and highest, by default what occurs; beyond it the colour stays the same. Two maps compare by
    colour only if they have the same scale. The names are escaped; what comes back is to be put in as it is.
    """
    values = [[None if value is None or not isfinite(value) else float(value) for value in row] for row in matrix]
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise InputError(
            "a heat map needs a number, or None, per row and column",
            expected=f"{len(rows)} rows of {len(columns)}",
            got=f"rows of {[len(row) for row in values]}",
        )
    low, high = _checked(scale) if scale else _range(values)
    body = [_row(name, row, low, high, write) for name, row in zip(rows, values, strict=True)]
    heads = "".join(f'<th scope="col" class="number" style="{HEAD}">{escape(name)}</th>' for name in columns)
    return (
        f'<div class="wide" style="overflow-x:auto" tabindex="0" role="region" aria-label="{escape(title)}">\n'
        f'<table class="heat" style="width:auto">\n<caption style="text-align:left">{escape(title)}</caption>\n'
        f"<thead><tr><td></td>{heads}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody>\n</table>\n</div>\n"
    )


def colours(share: float) -> tuple[str, str]:
    """Ground and ink of a number that is `share` of the way from lowest to highest; their contrast is at least 4.5.

    >>> colours(0.0), colours(1.0)
    (('#f7fbff', '#000000'), ('#08306b', '#ffffff'))
    """
    ground = [round(float(np.interp(share, np.linspace(0, 1, len(RAMP)), channel))) for channel in RAMP.T]
    light = luminance(ground)
    # contrast as in WCAG 2.1: (lighter + .05) / (darker + .05); black or white always gives 4.58 or more
    ink = "#000000" if (light + 0.05) ** 2 >= 1.05 * 0.05 else "#ffffff"
    return "#" + "".join(f"{channel:02x}" for channel in ground), ink


def luminance(channels: Sequence[int]) -> float:
    """Relative luminance of red, green and blue from 0 to 255, as in WCAG 2.1."""
    parts = np.asarray(channels, np.float64) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _row(name: str, values: Sequence[float | None], low: float, high: float, write: Callable[[float], str]) -> str:
    cells = "".join(_cell(value, low, high, write) for value in values)
    return f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'


def _cell(value: float | None, low: float, high: float, write: Callable[[float], str]) -> str:
    if value is None:
        return f'<td class="number missing" style="{CELL};border-style:dashed"></td>'
    share = (value - low) / (high - low) if high > low else 0.5
    ground, ink = colours(min(1.0, max(0.0, share)))
    return f'<td class="number" style="{CELL};background:{ground};color:{ink}">{escape(write(value))}</td>'


def _range(values: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    known = [value for row in values for value in row if value is not None]
    return (min(known), max(known)) if known else (0.0, 1.0)


def _checked(scale: tuple[float, float]) -> tuple[float, float]:
    if not all(map(isfinite, scale)) or scale[0] >= scale[1]:
        raise InputError("the scale of a heat map must rise", expected="(lowest, highest)", got=str(scale))
    return scale
