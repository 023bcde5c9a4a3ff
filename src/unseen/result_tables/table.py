"""The record of a printed table: rows of cells as they stand in a file, and the numbers that they print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from unseen.errors import InputError

DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?:[eE][+-]?\d{1,3})?"
NUMBER = re.compile(rf"(?P<sign>[+-]?)\s*(?P<digits>(?=[.\d]){DIGITS})\s*(?P<percent>%?)")
INTERVAL = re.compile(rf"[\[(]\s*([+-]?{DIGITS})\s*%?\s*(?:,|;|\bto\b|-|\.\.)\s*([+-]?{DIGITS})\s*%?\s*[\])]")
SPREAD = re.compile(rf"±\s*({DIGITS})\s*%?")
ASIDE = re.compile(r"\(([^()]*)\)")
MARKS = re.compile(r"[*†‡§¶↑↓▲▼✓]+|\^\{?[a-z*]\}?")
DASHES = str.maketrans({"−": "-", "–": "-", "\u2011": "-", "\u00a0": " ", "\u202f": " ", "\u2009": " "})
LONGEST_CELL = 500
"""Characters beyond which a cell is prose."""
MOST_ROWS, MOST_COLUMNS = 1_000, 60
"""Of a table that somebody reads."""
MOST_TABLES = 1_000
"""In one file."""


@dataclass(frozen=True)
class PrintedNumber:
    """A number as it is printed, and what its digits leave open."""

    value: float
    half: float
    """Half a unit of its last digit: the number that was rounded lies within `value` ± `half`."""
    places: int
    """Decimals; below zero for powers of ten."""
    percent: bool = False
    spread: float | None = None
    """What stands behind ±."""
    interval: tuple[float, float] | None = None
    bracketed: PrintedNumber | None = None
    """A second number in brackets, a share or a deviation: `300 (61.1 %)`."""

    @property
    def low(self) -> float:
        """The least that it can have been before rounding."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """The most that it can have been before rounding."""
        return self.value + self.half

    @property
    def is_count(self) -> bool:
        """Whether it is a whole number without a percent sign."""
        return self.places == 0 and not self.percent


def printed_number(text: str) -> PrintedNumber | None:
    """The number in a cell without its markup; None where there is none, or words besides.

    >>> printed_number("71.5±0.4").spread, printed_number(".66 [.60, .71]").interval, printed_number("12 posts")
    (0.4, (0.6, 0.71), None)
    """
    if len(text) > LONGEST_CELL or not any(character.isdigit() for character in text):
        return None
    rest = MARKS.sub("", text.translate(DASHES)).strip()
    number = NUMBER.match(rest)
    if number is None:
        return None
    try:
        spread, interval, bracketed = None, None, None
        rest = rest[number.end() :].strip()
        if match := SPREAD.match(rest):
            spread, rest = _float(match[1]), rest[match.end() :].strip()
        if match := INTERVAL.match(rest):
            interval, rest = (_float(match[1]), _float(match[2])), rest[match.end() :].strip()
        elif match := ASIDE.match(rest):
            bracketed, rest = printed_number(match[1].removeprefix("±").strip()), rest[match.end() :].strip()
        if rest:
            return None
        digits = number["digits"].replace(",", "")
        value = float(digits) * (-1 if number["sign"] == "-" else 1)
        mantissa, _, power = digits.lower().partition("e")
        places = len(mantissa.partition(".")[2]) - int(power or 0)
        return PrintedNumber(value, 0.5 * 10.0**-places, places, bool(number["percent"]), spread, interval, bracketed)
    except (ValueError, OverflowError):
        return None


def _float(text: str) -> float:
    return float(text.replace(",", ""))


@dataclass(frozen=True)
class PrintedCell:
    """A cell: what stands in the file, and where."""

    raw: str
    text: str
    """Without markup."""
    line: int
    marked: bool = False
    """Whether it is set in bold, as the best of its column is."""

    @cached_property
    def number(self) -> PrintedNumber | None:
        """The number that it prints."""
        return printed_number(self.text)

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands in it, or a dash."""
        return self.text.strip(" -–—−").casefold() in ("", "na", "n/a", "n.a.", "nan")


@dataclass(frozen=True)
class ResultTable:
    """A table of anybody's, as it is printed."""

    file: str
    line: int
    """Where its header stands."""
    columns: tuple[str, ...]
    """Headers; of several header rows, those above one another joined by a blank."""
    rows: tuple[tuple[PrintedCell, ...], ...]
    """Each as long as `columns`."""
    title: str = ""
    """Its caption, or the heading and the line above it."""
    context: str = ""
    """What is said around it: its section, and the beginning of the page."""
    ignored: frozenset[str] = field(default_factory=frozenset)
    """Rules that a comment in the file says do not apply."""

    @property
    def is_large(self) -> bool:
        """Whether it is data rather than a table to read: its numbers are not compared with one another."""
        return len(self.rows) > MOST_ROWS or len(self.columns) > MOST_COLUMNS

    def place(self, cell: PrintedCell | None = None, column: int | None = None) -> str:
        """`results.md:12, column F1`."""
        where = f"{self.file}:{cell.line if cell else self.line}"
        return where if column is None else f"{where}, column {self.columns[column] or column + 1}"

    def label(self, row: int) -> str:
        """What names a row: its cells before the first number."""
        return " ".join(self._names(row))

    def last_label(self, row: int) -> str:
        """The most exact of them, for sentences about a few rows."""
        return next(reversed(self._names(row)), "")

    def _names(self, row: int) -> list[str]:
        before = takewhile(lambda cell: cell.number is None, self.rows[row])
        return [cell.text for cell in before if not cell.is_empty]

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """Columns of numbers: at least half of the cells that are not empty."""
        return tuple(
            place for place in range(len(self.columns)) if _mostly_numbers([row[place] for row in self.rows])
        )  # fmt: skip


def _mostly_numbers(cells: Sequence[PrintedCell]) -> bool:
    filled = [cell for cell in cells if not cell.is_empty]
    return bool(filled) and 2 * sum(cell.number is not None for cell in filled) >= len(filled)


def made_table(
    file: str, header: Sequence[PrintedCell], rows: Sequence[Sequence[PrintedCell]], title: str = "", context: str = "",
    ignored: frozenset[str] = frozenset(),
) -> ResultTable:  # fmt: skip
    """A table whose rows are as long as its header; short ones are filled with empty cells, long ones cut."""
    width, line = len(header), header[0].line if header else 1
    filled = tuple(
        (*row[:width], *(PrintedCell("", "", row[0].line if row else line) for _ in range(width - len(row))))
        for row in rows
    )
    return ResultTable(file, line, tuple(cell.text for cell in header), filled, title, context, ignored)


def refuse_many(tables: Sequence[ResultTable], file: str) -> None:
    """Refuse a file with more tables than anybody writes."""
    if len(tables) > MOST_TABLES:
        raise InputError(f"{file} has too many tables", expected=f"at most {MOST_TABLES:,}")
