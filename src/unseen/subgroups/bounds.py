"""Intervals from resampled values."""

from __future__ import annotations

import numpy as np

from unseen.evaluation.bootstrap import percentiles
from unseen.evaluation.intervals import Bounds
from unseen.functional.rates import rate
from unseen.types.arrays import Codes, Floats

ALIKE = 1e-12
FEWEST = 10
"""With fewer texts on a side, resampling does not know how wide an interval should be: one text never varies."""


def bounds(drawn: Floats, texts: int) -> Bounds:
    """The middle 95 % of resampled values; none where most are unknown, or where they rest on too few `texts`.

    None too where all are the same: five texts without an error resample to five without an error, which says
    nothing about the sixth. `texts` are those of the smallest set, or the units that are drawn together.
    """
    return (None, None) if texts < FEWEST or stuck(drawn) else percentiles(drawn) or (None, None)


def refusal(interval: Bounds, texts: int) -> dict[str, int]:
    """The tag `few_texts` where that is why there is no interval."""
    return {"few_texts": texts} if interval == (None, None) and texts < FEWEST else {}


def chance(far: float, texts: int) -> dict[str, float]:
    """How `far` resampling moves a number over groups, as the tag `by_chance`; `few_texts` where a group has too few.

    One text never varies, so groups of a few would seem to have gaps that chance does not give.
    """
    if texts < FEWEST:
        return {"few_texts": texts}
    return {"by_chance": far} if np.isfinite(far) else {}


def reflected(value: float, drawn: Floats, texts: int) -> Bounds:
    """`bounds` turned round the value, within 0 and 1: where resampling moves a number one way, the sample did too.

    A mean that low values weigh most in is lowered by noise, and by as much again when noise is resampled.
    """
    low, high = bounds(drawn, texts)
    return (None, None) if low is None or high is None else (max(0.0, 2 * value - high), min(1.0, 2 * value - low))


def exact_bounds(share: float, units: Codes) -> Bounds | None:
    """The exact interval of a share of 0 or 1 of so many `units`, all of whose resamples are the same; else None."""
    if share not in (0.0, 1.0):
        return None
    exact = rate("share", np.full(len(units), share), np.asarray(units, np.intp))
    return exact.low, exact.high


def stuck(drawn: Floats) -> bool:
    """Whether all known values are the same."""
    known = drawn[np.isfinite(drawn)]
    return not len(known) or bool(np.ptp(known) < ALIKE)
