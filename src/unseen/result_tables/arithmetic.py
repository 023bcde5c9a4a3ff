"""Equations between printed numbers, judged within the rounding of their digits: what can be right holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from unseen.result_tables.table import PrintedNumber, ResultTable, printed_number

SLACK = 1e-9
Interval = tuple[float, float]
FORMULAS: dict[str, Callable[..., float]] = {
    "mean": lambda *values: sum(values) / len(values),
    "sum": lambda *values: sum(values),
    "same": lambda value: value,
    "difference": lambda new, ref: new - ref,
    "difference-in-points": lambda new, ref: 100 * (new - ref),
    "relative-gain": lambda new, ref: (new - ref) / ref,
    "relative-gain-percent": lambda new, ref: 100 * (new - ref) / ref,
    "error-reduction": lambda new, ref: (new - ref) / (_top(new, ref) - ref),
    "error-reduction-percent": lambda new, ref: 100 * (new - ref) / (_top(new, ref) - ref),
    "percent-less-one-gain": lambda new, ref: 100 * (new - ref) / (ref - 1),
    "ratio": lambda value, other: value / other,
    "share": lambda part, total: part / total,
    "share-percent": lambda part, total: 100 * part / total,
}
"""How a printed number is made of others. `percent-less-one-gain` is what becomes of the share of error removed,
(new − ref) / (1 − ref), when scores are in percent and the 1 is left as it is, but for the sign."""
MEANINGS = {
    "mean": "the mean of {0}", "sum": "the sum of {0}", "same": "{0}",
    "difference": "{0} less {1}", "difference-in-points": "{0} less {1}, in points",
    "relative-gain": "the gain of {0} over {1}", "relative-gain-percent": "the gain of {0} over {1} in percent",
    "error-reduction": "the share of the error of {1} that {0} removes",
    "error-reduction-percent": "the share of the error of {1} that {0} removes, in percent",
    "percent-less-one-gain": "100 · (new − ref) / (ref − 1) of {0} and {1}",
    "ratio": "{0} by {1}", "share": "{0} as a share of {1}", "share-percent": "{0} in percent of {1}",
}  # fmt: skip
LINEAR = ("mean", "sum", "same")


def _top(new: float, ref: float) -> float:
    """The best score there is: 100 where scores are in percent."""
    return 100.0 if max(abs(new), abs(ref)) > 1 + SLACK else 1.0


@dataclass(frozen=True)
class NumberPlace:
    """Where a number of an equation stands."""

    table: ResultTable
    row: int
    column: int
    bracketed: bool = False
    """Whether it is the second number of the cell, in brackets."""

    @property
    def number(self) -> PrintedNumber | None:
        """The number that is printed there."""
        number = self.table.rows[self.row][self.column].number
        return number.bracketed if number is not None and self.bracketed else number

    @property
    def text(self) -> str:
        """As it is printed."""
        return self.table.rows[self.row][self.column].text

    @property
    def called(self) -> str:
        """Its row and column."""
        return ", ".join(filter(None, [self.table.label(self.row), self.table.columns[self.column]]))

    @property
    def location(self) -> str:
        """File, line and column."""
        return self.table.place(self.table.rows[self.row][self.column], self.column)

    def __hash__(self) -> int:
        return hash((id(self.table), self.row, self.column, self.bracketed))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberPlace) and hash(self) == hash(other) and self.table is other.table


Operand = NumberPlace | float
Changed = Mapping[NumberPlace, PrintedNumber]
AS_PRINTED: Changed = MappingProxyType({})


@dataclass(frozen=True)
class Equation:
    """A printed number that ought to follow from others; of several references of a gain the best counts."""

    kind: str
    target: NumberPlace
    operands: tuple[Operand, ...]
    partial: bool = False
    """Whether it leaves out operands that are not printed."""

    def bounds(self, changed: Changed = AS_PRINTED) -> Interval | None:
        """All that the formula can give before rounding; None where a number is missing or it is not defined."""
        intervals = [_interval(operand, changed, self._is_of_counts) for operand in self.operands]
        known = [interval for interval in intervals if interval is not None]
        if len(known) < len(intervals) or not known:
            return None
        formula = FORMULAS[self.kind]
        if self.kind in LINEAR:
            return formula(*(low for low, _ in known)), formula(*(high for _, high in known))
        reference = (max(low for low, _ in known[1:]), max(high for _, high in known[1:]))
        try:
            corners = [formula(new, ref) for new, ref in product(known[0], reference)]
        except ZeroDivisionError:
            return None
        is_pole = self.kind not in ("difference", "difference-in-points") and _has_pole(self.kind, known[0], reference)
        return None if is_pole else (min(corners), max(corners))

    def holds(self, changed: Changed = AS_PRINTED) -> bool | None:
        """Whether the printed number can be right; None where that cannot be told."""
        bounds, number = self.bounds(changed), changed.get(self.target, self.target.number)
        if bounds is None or number is None:
            return None
        slack = SLACK * (1 + abs(number.value))
        return bounds[0] - slack <= number.high and number.low <= bounds[1] + slack

    def scaled(self) -> float | None:
        """100 or 0.01, if that many times the printed number would be right though it is not."""
        bounds, number = self.bounds(), self.target.number
        if bounds is None or number is None or not number.value:
            return None
        for factor in (100.0, 0.01):
            low, high = sorted((number.low * factor, number.high * factor))
            if bounds[0] <= high and low <= bounds[1]:
                return factor
        return None

    @property
    def _is_of_counts(self) -> bool:
        """Whether whole numbers in it were counted, not rounded: parts of a total, and sums beyond percent."""
        number = self.target.number
        return self.kind.startswith("share") or (self.kind == "sum" and number is not None and number.value > 100)

    @property
    def places(self) -> tuple[NumberPlace, ...]:
        """Every printed number in it."""
        return (self.target, *(operand for operand in self.operands if isinstance(operand, NumberPlace)))

    @property
    def expected(self) -> str:
        """What the formula gives, with the decimals of the printed number."""
        bounds, number = self.bounds(), self.target.number
        if bounds is None or number is None:
            return "nothing"
        places = max(number.places, 0)
        low, high = (f"{side:.{places}f}" for side in bounds)
        return low if low == high else f"{low} to {high}"

    @property
    def meaning(self) -> str:
        """The formula in words, with what it is of."""
        names = [_called(operand, self.target) for operand in self.operands]
        if self.kind in LINEAR:
            return MEANINGS[self.kind].format(", ".join(names))
        return MEANINGS[self.kind].format(names[0], " or ".join(names[1:]))


def _has_pole(kind: str, new: Interval, reference: Interval) -> bool:
    """Whether the denominator may be zero."""
    ends = {"error-reduction": _top(new[1], reference[1]), "percent-less-one-gain": 1.0}
    pole = ends.get(kind.removesuffix("-percent"), 0.0)
    return reference[0] - SLACK <= pole <= reference[1] + SLACK


def _interval(operand: Operand, changed: Changed, is_count: bool) -> Interval | None:
    if isinstance(operand, float):
        return operand, operand
    number = changed.get(operand, operand.number)
    if number is None:
        return None
    return (number.value, number.value) if is_count and number.is_count else (number.low, number.high)


def _called(operand: Operand, target: NumberPlace) -> str:
    """An operand by what tells it apart from the target: its column, its row or both; and its number."""
    if isinstance(operand, float):
        return f"{operand:g}"
    if operand.table is target.table and operand.row == target.row:
        name = operand.table.columns[operand.column]
    elif operand.table is target.table and operand.column == target.column:
        name = operand.table.last_label(operand.row)
    else:
        name = operand.called
    number = f"{operand.text}" if operand.number is not None else "–"
    return f"{name} {number}".strip()


@dataclass(frozen=True)
class Repair:
    """A number that would repair several equations at once if one slip had happened to it."""

    place: NumberPlace
    value: str
    equations: tuple[Equation, ...]


def repairs(wrong: Sequence[Equation], right: Sequence[Equation]) -> list[Repair]:
    """Cells of which one changed digit, or two swapped, would put two or more wrong equations right and none wrong."""
    repaired: list[Repair] = []
    left = list(wrong)
    while True:
        best: Repair | None = None
        for place in dict.fromkeys(place for equation in left for place in equation.places):
            concerned = [equation for equation in left if place in equation.places]
            kept = [equation for equation in right if place in equation.places]
            if len(concerned) < 2:
                continue
            for text in slips(place.text):
                number = printed_number(text)
                if (
                    number is None
                    or place.bracketed
                    or any(equation.holds({place: number}) is False for equation in kept)
                ):
                    continue
                mended = tuple(equation for equation in concerned if equation.holds({place: number}))
                if len(mended) > max(1, len(best.equations) if best else 0):
                    best = Repair(place, text, mended)
        if best is None:
            return repaired
        repaired.append(best)
        left = [equation for equation in left if equation not in best.equations]


def slips(text: str) -> Iterator[str]:
    """A printed number with two neighbouring digits swapped, or one digit changed.

    >>> [slip for slip in slips("1.2") if slip.startswith("1")][:3]
    ['1.0', '1.1', '1.3']
    """
    for place in range(len(text) - 1):
        if text[place].isdigit() and text[place + 1].isdigit() and text[place] != text[place + 1]:
            yield text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    for place, character in enumerate(text):
        if character.isdigit():
            yield from (text[:place] + digit + text[place + 1 :] for digit in "0123456789" if digit != character)
