"""Quantities with their units, as people write and read them: 50ms, 2GB."""

from __future__ import annotations

import re

from unseen.errors import InputError

SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
BYTES = {"kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
UNITS = {"seconds": SECONDS, "bytes": BYTES}
"""What a quantity is in, and how much of it a unit is."""
QUANTITY = re.compile(r"\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(?P<unit>[A-Za-z]*)\s*")


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
        return "–"
    return f"{digits(seconds)} s" if seconds >= 1 else f"{digits(seconds * 1e3)} ms"


def in_bytes(size: float | None) -> str:
    """A size of memory.

    >>> in_bytes(1_532_000_000), in_bytes(48_200_000), in_bytes(0), in_bytes(None)
    ('1.53 GB', '48.2 MB', '0 MB', '–')
    """
    if size is None:
        return "–"
    return f"{digits(size / 1e9)} GB" if size >= 1e9 else f"{digits(size / 1e6)} MB"


def digits(value: float | None) -> str:
    """Three digits that count, thousands set apart; below a hundredth two.

    >>> digits(51234.0), digits(512.3), digits(5.123), digits(0.5123), digits(0.00512), digits(0.0), digits(None)
    ('51,234', '512', '5.12', '0.512', '0.0051', '0', '–')
    """
    if value is None:
        return "–"
    size = abs(value)
    if not size:
        return "0"
    if size >= 100:
        return f"{value:,.0f}"
    places = 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{value:.{places}f}" if size >= 0.01 else f"{value:.2g}"


def with_prefix(value: float | None) -> str:
    """A count of operations with its thousands: 12.3 G.

    >>> with_prefix(12_345_678_901), with_prefix(950.0), with_prefix(None)
    ('12.3 G', '950', '–')
    """
    if value is None:
        return "–"
    for size, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{digits(value / size)} {name}"
    return digits(value)
