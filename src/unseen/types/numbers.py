"""Numbers as people write them, in every sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from unseen.types.records import Measurement

MINUS, DASH = "−", "–"
MOST_PLACES = 5
TINY = 0.001


def number(value: float | None, places: int = 2) -> str:
    """A score without the zero before its point.

    >>> number(0.664), number(1.0), number(-0.052), number(-0.001), number(None)
    ('.66', '1.00', '−.05', '.00', '–')
    """
    if value is None:
        return DASH
    digits = f"{abs(value):.{places}f}"
    sign = MINUS if value < 0 and float(digits) else ""
    return sign + (digits[1:] if digits.startswith("0.") else digits)


def whole(value: float | None) -> str:
    """A number without decimals."""
    return number(value, 0)


def thousandths(value: float | None) -> str:
    """A score with three decimals."""
    return number(value, 3)


def points(difference: float | None) -> str:
    """A difference in hundredths: whole numbers, one decimal below ten.

    >>> points(0.391), points(0.0316), points(-0.0996), points(0), points(None)
    ('39', '3.2', '−10', '0', '–')
    """
    if difference is None:
        return DASH
    hundredths = abs(difference) * 100
    digits = f"{hundredths:.1f}" if round(hundredths, 1) < 10 else f"{hundredths:.0f}"
    if not float(digits):
        return "0"
    return (MINUS if difference < 0 else "") + digits


def percent(share: float | None, places: int | None = None) -> str:
    """A share in hundredths: whole numbers, one decimal near nothing and near all; or as many decimals as asked.

    >>> percent(0.335), percent(0.004), percent(0.0), percent(0.996), percent(1.0), percent(0.335, 1), percent(None)
    ('34 %', '0.4 %', '0 %', '99.6 %', '100 %', '33.5 %', '–')
    """
    if share is None:
        return DASH
    if places is None:
        places = 1 if 0 < share < 0.02 or 0.98 < share < 1 else 0
    return f"{100 * share:.{places}f} %"


def portion(count: int, of: int, what: str) -> str:
    """How many of how many, and the share that is.

    >>> portion(270, 1478, "test texts")
    '270 of 1,478 test texts (18.3 %)'
    """
    return f"{count:,} of {of:,} {what} ({percent(count / max(1, of), 1)})"


def magnitude(size: float) -> str:
    """A size that may be tiny: three decimals, below a thousandth its power of ten.

    >>> magnitude(0.0523), magnitude(1.0), magnitude(2e-05), magnitude(0.0)
    ('.052', '1.000', '2e-05', '0')
    """
    return number(size, 3) if size >= TINY else f"{size:.1g}"


def bounds(row: Measurement | None, write: Callable[[float], str] = number) -> str:
    """The interval in brackets; nothing when there is none."""
    if row is None or row.low is None or row.high is None:
        return ""
    return f"[{write(row.low)}, {write(row.high)}]"


def scored(row: Measurement | None, write: Callable[[float | None], str] = number) -> str:
    """A score with its interval; with `points`, a difference with its interval."""
    return " ".join(filter(None, [write(row.value), bounds(row, write)])) if row else DASH


def turned(row: Measurement) -> Measurement:
    """A difference seen from the other side: a fall as a gain, a price as a cost."""
    value, low, high = (None if side is None else 0.0 - side for side in (row.value, row.high, row.low))
    return replace(row, value=value, low=low, high=high)


def difference_in_points(row: Measurement) -> str:
    """A difference of two scores in points, with its interval: `3.0 points [1.0, 5.0]`."""
    if row.value is None:
        return "an unknown amount"
    return " ".join(filter(None, [f"{points(row.value)} points", bounds(row, points)]))


def worse(row: Measurement) -> str:
    """A fall as what it is: `is 3.0 points [1.0, 5.0] worse`, or better where it is below zero."""
    if row.value is None or row.value >= 0:
        return f"is {difference_in_points(row)} worse"
    return f"is {difference_in_points(turned(row))} better"


def told_apart(*values: float, places: int = 2) -> list[str]:
    """Scores with as many decimals as show that they differ, and about how far.

    >>> told_apart(0.644, 0.651), told_apart(0.003, 0.007), told_apart(0.5, 0.5)
    (['.64', '.65'], ['.003', '.007'], ['.50', '.50'])
    """
    ordered = sorted(values)
    gaps = [(low, high) for low, high in pairwise(ordered) if high > low]
    while places < MOST_PLACES and any(
        abs(round(high, places) - round(low, places) - (high - low)) > (high - low) / 2 for low, high in gaps
    ):
        places += 1
    return [number(value, places) for value in values]
