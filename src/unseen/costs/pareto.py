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


@dataclass(frozen=True)
class Side:
    """One thing that contenders are compared by."""

    higher: bool
    """Whether more is better."""
    margin: float = 0.0
    """Share by which two numbers must differ to differ at all: the same program takes another time in every process."""


def dominates(one: Contender, other: Contender, sides: Mapping[str, Side]) -> bool:
    """Whether `one` is no worse on every side and, intervals apart, better on one.

    A side that either lacks decides nothing, but they must share one. Two whose intervals overlap everywhere do not
    dominate each other, however far their numbers are apart.
    """
    shared = [side for side in sides if _known(one, side) and _known(other, side)]
    return (
        bool(shared)
        and all(_ahead(one, other, side, sides[side], "value", "value") >= -sides[side].margin for side in shared)
        and any(_ahead(one, other, side, sides[side], *_ends(sides[side])) > sides[side].margin for side in shared)
    )


def dominated_by(contenders: Sequence[Contender], sides: Mapping[str, Side]) -> dict[str, list[str]]:
    """Of each contender those that dominate it; the front is those that nobody does."""
    return {
        other.name: [one.name for one in contenders if one is not other and dominates(one, other, sides)]
        for other in contenders
    }


def _known(contender: Contender, side: str) -> bool:
    return side in contender.rows and contender.rows[side].value is not None


def _ends(side: Side) -> tuple[str, str]:
    """The worse end of the interval of one, and the better end of that of the other."""
    return ("low", "high") if side.higher else ("high", "low")


def _ahead(one: Contender, other: Contender, name: str, side: Side, own: str, its: str) -> float:
    """By how much `one` is better at these ends; where there is a margin, as a share of the larger of the two."""
    better, worse = _end(one, name, own), _end(other, name, its)
    ahead = better - worse if side.higher else worse - better
    largest = max(abs(better), abs(worse))
    return ahead / largest if side.margin and largest else ahead


def _end(contender: Contender, side: str, bound: str) -> float:
    row = contender.rows[side]
    value = getattr(row, bound)
    return float(row.value if value is None else value)  # type: ignore[arg-type]
