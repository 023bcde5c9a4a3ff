"""Which of several models nobody needs: another one is no worse in anything and certainly better in something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unseen.types import Measurement


@dataclass(frozen=True)
class Contender:
    """A model with what it gives and what it costs."""

    name: str
    rows: Mapping[str, Measurement]
    """By the name of the side; a number without an interval counts as exact."""


def dominates(one: Contender, other: Contender, higher: Mapping[str, bool]) -> bool:
    """Whether `one` is no worse on every side and, intervals apart, better on one.

    `higher` says of each side whether more is better. A side that either lacks decides nothing, but they must share
    one. Two whose intervals overlap everywhere do not dominate each other, however far their numbers are apart.
    """
    shared = [side for side in higher if _known(one, side) and _known(other, side)]
    if not shared:
        return False
    no_worse = all(_signed(one, side, "value", higher) >= _signed(other, side, "value", higher) for side in shared)
    return no_worse and any(_least(one, side, higher) > _most(other, side, higher) for side in shared)


def dominated_by(contenders: Sequence[Contender], higher: Mapping[str, bool]) -> dict[str, list[str]]:
    """Of each contender those that dominate it; the front is those that nobody does."""
    return {
        other.name: [one.name for one in contenders if one is not other and dominates(one, other, higher)]
        for other in contenders
    }


def front(contenders: Sequence[Contender], higher: Mapping[str, bool]) -> list[str]:
    """Those that no other dominates, in their order."""
    return [name for name, better in dominated_by(contenders, higher).items() if not better]


def _known(contender: Contender, side: str) -> bool:
    return side in contender.rows and contender.rows[side].value is not None


def _signed(contender: Contender, side: str, bound: str, higher: Mapping[str, bool]) -> float:
    """A number such that more is better."""
    row = contender.rows[side]
    value = getattr(row, bound)
    number = float(row.value if value is None else value)  # type: ignore[arg-type]
    return number if higher[side] else -number


def _least(contender: Contender, side: str, higher: Mapping[str, bool]) -> float:
    return _signed(contender, side, "low" if higher[side] else "high", higher)


def _most(contender: Contender, side: str, higher: Mapping[str, bool]) -> float:
    return _signed(contender, side, "high" if higher[side] else "low", higher)
