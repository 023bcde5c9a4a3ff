"""Numbers as people write them, in every sentence, and quantities with their units: 50ms, 2GB."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

from unseen.errors import InputError
from unseen.types.records import Measurement

MINUS, DASH = "−", "–"
MOST_PLACES = 5
TINY = 0.001
SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
UNITS = {"seconds": SECONDS, "bytes": BYTES}
"""What a quantity is in, and how much of it a unit is."""
QUANTITY = re.compile(r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")


def number(value: float | None, places: int = 2) -> str:
    """A score without the zero before its point.

    >>> number(0.664), number(1.0), number(-0.052), number(-0.001), number(None)
    ('.66', '1.00', '−.05', '.00', '–')
    """
    if value is None:
        return DASH
    written = f"{abs(value):.{places}f}"
    sign = MINUS if value < 0 and float(written) else ""
    return sign + (written[1:] if written.startswith("0.") else written)


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
    written = f"{hundredths:.1f}" if round(hundredths, 1) < 10 else f"{hundredths:.0f}"
    if not float(written):
        return "0"
    return (MINUS if difference < 0 else "") + written


def percent(share: float | None, places: int | None = None) -> str:
    """A share in hundredths: whole numbers, one decimal near nothing and near all; or as many decimals as asked.

    >>> percent(0.335), percent(0.004), percent(0.0), percent(0.996), percent(1.0), percent(0.335, 1), percent(None)
    ('34 %', '0.4 %', '0 %', '99.6 %', '100 %', '33.5 %', '–')
    """
    if share is None:
        return DASH
    return f"{100 * share:.{_places_of(share) if places is None else places}f} %"


def _places_of(share: float) -> int:
    """The decimals that a share needs in hundredths."""
    return 1 if 0 < share < 0.02 or 0.98 < share < 1 else 0


def portion(count: int, of: int, what: str) -> str:
    """How many of how many, and the share that is.

    >>> portion(270, 1478, "test texts")
    '270 of 1,478 test texts (18 %)'
    """
    return f"{count:,} of {of:,} {what} ({percent(count / max(1, of))})"


def magnitude(size: float) -> str:
    """A size that may be tiny: three decimals, below a thousandth its power of ten.

    >>> magnitude(0.0523), magnitude(1.0), magnitude(2e-05), magnitude(0.0)
    ('.052', '1.000', '2e-05', '0')
    """
    return number(size, 3) if size >= TINY else f"{size:.1g}"


def bounds(row: Measurement | None, write: Callable[[float], str] = number) -> str:
    """The interval in brackets, a share's with as many decimals as the share; nothing when there is none.

    >>> bounds(Measurement("rate", 0.18, 60, 0.019, 0.54), percent)
    '[2 %, 54 %]'
    """
    if row is None or row.low is None or row.high is None:
        return ""
    if write is percent and row.value is not None:
        write = partial(percent, places=_places_of(row.value))
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
    if row.value is None or round(100 * row.value, 1) >= 0:
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


def quantity(text: str) -> tuple[float, str]:
    """The number in seconds or bytes, and which of the two; a number without a unit is in neither.

    >>> quantity("50ms"), quantity("2 GB"), quantity("0.2")
    ((0.05, 'seconds'), (2000000000.0, 'bytes'), (0.2, ''))
    """
    match = QUANTITY.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no quantity", expected="a number, with or without a unit: 50ms, 2GB")
    if not match["unit"]:
        return float(match["number"]), ""
    for kind, units in UNITS.items():
        if match["unit"] in units:
            return float(match["number"]) * units[match["unit"]], kind
    known = ", ".join(unit for units in UNITS.values() for unit in units)
    raise InputError(f"{text!r} has an unknown unit", expected=known, got=match["unit"])


def in_seconds(seconds: float | None) -> str:
    """A short time with three digits.

    >>> in_seconds(0.0512), in_seconds(3.2), in_seconds(0.0000071), in_seconds(754.0), in_seconds(None)
    ('51.2 ms', '3.20 s', '0.0071 ms', '754 s', '–')
    """
    if seconds is None:
        return DASH
    return f"{digits(seconds)} s" if seconds >= 1 else f"{digits(seconds * 1e3)} ms"


def in_bytes(size: float | None) -> str:
    """A size of memory.

    >>> in_bytes(1_532_000_000), in_bytes(48_200_000), in_bytes(0), in_bytes(None)
    ('1.53 GB', '48.2 MB', '0 MB', '–')
    """
    if size is None:
        return DASH
    return f"{digits(size / 1e9)} GB" if size >= 1e9 else f"{digits(size / 1e6)} MB"


def digits(value: float | None) -> str:
    """Three digits that count, thousands set apart; below a hundredth two.

    >>> digits(51234.0), digits(512.3), digits(5.123), digits(0.5123), digits(0.00512), digits(0.0), digits(None)
    ('51,234', '512', '5.12', '0.512', '0.0051', '0', '–')
    """
    if value is None:
        return DASH
    size = abs(value)
    if not size:
        return "0"
    if size >= 100:
        return f"{value:,.0f}"
    places = 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{places}f}" if size >= 0.01 else f"{value:.2g}"


def sized(value: float | None) -> str:
    """A number that may be of any size: whole ones as they are, others with three digits, small ones like scores.

    >>> sized(1615.0), sized(13.0), sized(-4.0), sized(80.25), sized(-0.5), sized(None)
    ('1,615', '13', '−4', '80.2', '−.500', '–')
    """
    if value is None or (abs(value) < 10 and not float(value).is_integer()):
        return number(value, 3)
    size = abs(value)
    return (MINUS if value < 0 else "") + (f"{size:,.0f}" if float(size).is_integer() else digits(size))


def with_prefix(value: float | None) -> str:
    """A count of operations with its thousands: 12.3 G.

    >>> with_prefix(12_345_678_901), with_prefix(950.0), with_prefix(None)
    ('12.3 G', '950', '–')
    """
    if value is None:
        return DASH
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{digits(value / size)} {name}"
    return digits(value)
