"""Which relations the cells of a table have: said in a file, or read off headers and found to hold on most rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from unseen.errors import InputError, UnknownNameError
from unseen.result_tables.arithmetic import FORMULAS, Equation, NumberPlace, Operand
from unseen.result_tables.table import ResultTable
from unseen.store.settings_file import Listed, SettingsTable, read_settings

AVERAGE = re.compile(
    r"^(?!.*(?:weighted|micro|geometric|harmonic|median|\bon average))"
    r"(?:(?:avg|average)(?![\w-])(?!\.? (?:precision|error|number|length|rank|width)).*|mean(?:\s*\(.*\))?"
    r"|.*(?<![\w-])(?:avg|average)\.?)$",
    re.I,
)
"""A plain mean of something, not a metric that has the word in its name."""
TOTAL = re.compile(r"(?<![\w-])(?:total|sum)(?![\w-])", re.I)
GAIN = re.compile(
    r"[Δ∆]|\b(?:delta|gain|gains|improvement|difference|diff|fall|drop|reduction|increase|change|lift)\b", re.I
)
SHARE = re.compile(r"%|\b(?:percent|percentage|share)\b", re.I)
OF_TOTAL = re.compile(r"\b(?:of|n ?=|N ?=)\s*((?:\d{1,3}(?:,\d{3})+|\d{2,}))\b")
GAINS = tuple(name for name in FORMULAS if re.search("difference|gain|reduction", name))
FEWEST = 3
"""Rows on which a relation that was inferred must hold."""
UNNAMED = 0.8
"""Share of the rows on which a gain must hold whose header does not say between which columns it is."""
LARGE = 100
"""Counts from which on it is no chance that two tables have the same."""
MOST_PAIRED = 24
"""Columns or rows of a table of which any two may make a gain."""
MOST_TABLES = 200
"""Tables that are compared with one another."""


@dataclass(frozen=True)
class Relation:
    """Equations that say the same of each row, or of each column."""

    equations: tuple[Equation, ...]
    given: bool = False
    """Whether somebody said so; else it must hold on most rows."""

    @cached_property
    def right(self) -> list[Equation]:
        """Those that can be right."""
        return [equation for equation in self.equations if equation.holds()]

    @cached_property
    def wrong(self) -> list[Equation]:
        """Those that cannot be right."""
        return [equation for equation in self.equations if equation.holds() is False]

    @property
    def is_kept(self) -> bool:
        """Whether it holds on most; means over the cells that happen to be printed speak for no others."""
        whole = [equation for equation in self.right if not equation.partial]
        return not self.wrong or len(whole) > len(self.wrong)


@dataclass(frozen=True)
class Unexplained:
    """A column or row whose header promises what its numbers do not keep under any reading."""

    table: ResultTable
    name: str
    line: int


class GivenRelation(SettingsTable):
    """`[[relation]]` of a file."""

    kind: Literal[
        "mean", "sum", "same", "difference", "difference-in-points", "relative-gain", "relative-gain-percent",
        "error-reduction", "error-reduction-percent", "percent-less-one-gain", "ratio", "share", "share-percent",
    ] = Field(description="mean, sum, difference, relative-gain, …")  # fmt: skip
    target: str = Field(description="the header of the column that is checked, or with axis rows the label of the row")
    of: Listed[str | int | float] = Field(default=(), description="headers or numbers; of a gain: new, then references")
    axis: Literal["columns", "rows"] = "columns"
    table: Annotated[int, Field(ge=1)] = 1
    """Which table of the files, counted from 1."""
    other: Annotated[int, Field(ge=1)] | None = None
    """Of `same`: the table whose column `target`, or `of`, says the same of the same rows."""


class RelationsFile(SettingsTable):
    """A file of relations."""

    relation: Listed[GivenRelation] = Field(description="[[relation]] tables")


def given_relations(path: str | Path, tables: Sequence[ResultTable]) -> list[Relation]:
    """The relations that a TOML file says."""
    return [_given(relation, tables) for relation in read_settings(path, RelationsFile).relation]


def _given(given: GivenRelation, tables: Sequence[ResultTable]) -> Relation:
    grids = [_grid(tables, number, given.axis == "rows") for number in (given.table, given.other or given.table)]
    grid, other = grids
    target = grid.position(given.target)
    if given.kind == "same" and given.other is not None:
        column = other.position(str(given.of[0]) if given.of else given.target)
        return Relation(tuple(_same_rows(grid, target, other, column)), given=True)
    if not given.of:
        raise InputError(f"the relation {given.kind} of {given.target!r} does not say what it is of")
    operands = [float(name) if isinstance(name, int | float) else grid.position(name) for name in given.of]
    return Relation(tuple(grid.equations(given.kind, target, operands)), given=True)


@dataclass(frozen=True)
class TableGrid:
    """A table by its columns, or turned: by its rows."""

    table: ResultTable
    turned: bool = False

    @cached_property
    def names(self) -> list[str]:
        """What the positions are called: columns, or rows."""
        return [self.table.label(row) for row in range(len(self.table.rows))] if self.turned else [*self.table.columns]

    @cached_property
    def positions(self) -> list[int]:
        """Those with numbers."""
        if not self.turned:
            return [*self.table.numeric]
        return [row for row, cells in enumerate(self.table.rows) if any(cells[at].number for at in self.table.numeric)]

    @cached_property
    def lines(self) -> list[int]:
        """What crosses the positions."""
        return [*self.table.numeric] if self.turned else [*range(len(self.table.rows))]

    def place(self, line: int, position: int, bracketed: bool = False) -> NumberPlace:
        """Where a line crosses a position."""
        row, column = (position, line) if self.turned else (line, position)
        return NumberPlace(self.table, row, column, bracketed)

    def position(self, name: str) -> int:
        """The position of that name; refuses one that is not there."""
        if name not in self.names:
            raise UnknownNameError.of("row" if self.turned else "column", name, filter(None, self.names))
        return self.names.index(name)

    def equations(
        self, kind: str, target: int, operands: Sequence[int | float], lines: Sequence[int] | None = None,
        bracketed: bool = False,
    ) -> Iterator[Equation]:  # fmt: skip
        """The equation of each line in which every number is printed; floats are numbers, ints are positions."""
        for line in self.lines if lines is None else lines:
            places: list[Operand] = [at if isinstance(at, float) else self.place(line, at) for at in operands]
            equation = Equation(kind, self.place(line, target, bracketed), tuple(places))
            if equation.holds() is not None:
                yield equation
            elif kind == "mean" and (present := [place for place in equation.places[1:] if place.number is not None]):
                # a mean over the cells that are printed may be meant; where it does not hold, nothing is known
                over_present = Equation(kind, equation.target, tuple(present), partial=True)
                if over_present.holds():
                    yield over_present


def _grid(tables: Sequence[ResultTable], number: int, turned: bool) -> TableGrid:
    if number > len(tables):
        raise InputError(f"there is no table {number}", got=f"{len(tables)} tables")
    return TableGrid(tables[number - 1], turned)


def inferred_relations(tables: Sequence[ResultTable]) -> tuple[list[Relation], list[Unexplained]]:
    """What headers promise and most rows keep, in each table and between tables; and promises that nothing keeps."""
    relations, unexplained = list[Relation](), list[Unexplained]()
    for table in tables:
        gain_columns: set[int] = set()
        for grid in (TableGrid(table), TableGrid(table, turned=True)):
            relations += _gains(grid)
            gain_columns |= set() if grid.turned else set(_gain_positions(grid))
            for kind in ("mean", "sum"):
                kept, left = aggregates(grid, kind, gain_columns)
                relations += kept
                unexplained += left
        relations += _shares(table)
    for one, other in combinations(tables[:MOST_TABLES], 2):
        relations += _counts_of_both(one, other)
    return relations, unexplained


def aggregates(
    grid: TableGrid, kind: str, gain_columns: Set[int] = frozenset()
) -> tuple[list[Relation], list[Unexplained]]:
    """Means or sums of positions: of those since the last one, of all, of the other means, of those named alike.

    Columns in `gain_columns` are in no mean of columns, and their own means are not looked at.
    """
    names, pattern = grid.names, AVERAGE if kind == "mean" else TOTAL
    targets = [at for at in grid.positions if pattern.search(names[at])]
    plain = [at for at in grid.positions if at not in targets and (grid.turned or at not in gain_columns)]
    if not targets or not plain:
        return [], []
    levels = [line for line in grid.lines if not (grid.turned and line in gain_columns)]
    readings: dict[str, dict[int, Relation]] = {}
    for target in targets:
        last = max((at for at in targets if at < target), default=-1)
        following = min((at for at in targets if at > target), default=10**6)
        first_word = names[target].split()[0].casefold() if names[target].split() else ""
        sets = {
            "since": [at for at in plain if last < at < target],
            "before": [at for at in plain if at < target],
            "all": plain,
            "after": [at for at in plain if target < at < following],
            "aggregates": [at for at in targets if at != target],
            "alike": [at for at in plain if names[at].casefold().startswith(first_word)],
        }
        for reading, operands in sets.items():
            operands = [at for at in operands if _same_sort(grid, at, target)] if not grid.turned else operands
            if len(operands) > 1:
                equations = tuple(grid.equations(kind, target, operands, levels))
                readings.setdefault(reading, {})[target] = Relation(equations)
    # a reading that holds for most of the aggregates of the table is believed of each
    believed = [by_target for by_target in readings.values() if _is_believed(by_target)]
    kept, left = list[Relation](), list[Unexplained]()
    for target in targets:
        own = [by_target[target] for by_target in readings.values() if target in by_target]
        alone = [
            relation for relation in own if relation.is_kept and (len(relation.right) >= FEWEST or not relation.wrong)
        ]
        best = max(
            [*alone, *(by_target[target] for by_target in believed if target in by_target)],
            key=lambda relation: len(relation.right), default=None,
        )  # fmt: skip
        if best is not None:
            explained = {equation.target for relation in own for equation in relation.right}
            kept.append(Relation(tuple(e for e in best.equations if e.holds() or e.target not in explained)))
        elif any(relation.equations for relation in own):
            left.append(_unexplained(grid, target))
    return kept, left


def _is_believed(by_target: dict[int, Relation]) -> bool:
    whole = Relation(tuple(equation for relation in by_target.values() for equation in relation.equations))
    return whole.is_kept and len(whole.right) >= FEWEST


def _unexplained(grid: TableGrid, position: int) -> Unexplained:
    line = grid.table.rows[position][0].line if grid.turned else grid.table.line
    return Unexplained(grid.table, grid.names[position], line)


def _same_sort(grid: TableGrid, position: int, target: int) -> bool:
    """Whether both are counts, or neither: a column of counts is in no mean of scores."""
    return _is_counts(grid, position) == _is_counts(grid, target)


def _is_counts(grid: TableGrid, position: int) -> bool:
    numbers = [number for line in grid.lines if (number := grid.place(line, position).number) is not None]
    large = [number for number in numbers if number.is_count and number.value > LARGE]
    return all(number.is_count for number in numbers) and 2 * len(large) > len(numbers)


def _gain_positions(grid: TableGrid) -> list[int]:
    names = grid.names
    return [at for at in grid.positions if GAIN.search(names[at]) and not AVERAGE.search(names[at])]


def _gains(grid: TableGrid) -> list[Relation]:
    """For each gain the formula and the pair of positions that hold on most lines, several where they hold as often.

    A line is wrong only where it is so under all of them; whoever judges the relations sees to that. What explains
    one gain best is not held against another, which may be adjusted in some way.
    """
    chosen: dict[tuple[str, int, int], list[tuple[int, Relation]]] = {}
    if len(grid.positions) > MOST_PAIRED:
        return []
    for target in _gain_positions(grid):
        readings = dict(_readings(grid, target))
        most = max((len(relation.right) for relation in readings.values()), default=0)
        for key, relation in readings.items():
            if len(relation.right) == most:
                chosen.setdefault(key, []).append((target, relation))
    return [max(claims, key=lambda claim: len(claim[1].right))[1] for claims in chosen.values()]


def _readings(grid: TableGrid, target: int) -> Iterator[tuple[tuple[str, int, int], Relation]]:
    others = [at for at in grid.positions if at != target and not GAIN.search(grid.names[at])]
    named = [at for at in others if grid.names[at] and _mentions(grid.names[target], grid.names[at])]
    for new, ref in permutations(others, 2):
        if named and ref not in named and new not in named:
            continue
        for kind in GAINS:
            relation = Relation(tuple(grid.equations(kind, target, [new, ref])))
            enough = 0.5 if named else UNNAMED
            if len(relation.right) >= max(FEWEST, enough * len(relation.equations)) and relation.is_kept:
                yield (kind, new, ref), relation


def _mentions(header: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", header, re.I) is not None


def _shares(table: ResultTable) -> list[Relation]:
    """Percentages of a column of counts: of a total that is named, of its total row, or of its sum."""
    grid, relations = TableGrid(table), list[Relation]()
    counts = [
        at for at in table.numeric if all(n.is_count for line in grid.lines if (n := grid.place(line, at).number))
    ]
    words = " ".join([*table.columns, table.title])
    totals = [float(match[1].replace(",", "")) for match in OF_TOTAL.finditer(words)]
    for part in counts:
        numbers = {line: n.value for line in grid.lines if (n := grid.place(line, part).number)}
        rows = [value for line, value in numbers.items() if TOTAL.search(table.label(line))]
        sums = sum(value for line, value in numbers.items() if not TOTAL.search(table.label(line)))
        targets = [(at, False) for at in table.numeric if SHARE.search(table.columns[at]) and at != part]
        for target, bracketed in [*targets, (part, True)]:
            readings = []
            for total in (*totals, *rows, sums, *(at for at in counts if at not in (part, target))):
                for kind in ("share-percent", "share"):
                    relation = Relation(tuple(grid.equations(kind, target, [part, total], bracketed=bracketed)))
                    if relation.is_kept and len(relation.right) >= FEWEST:
                        readings.append(relation)
            relations += sorted(readings, key=lambda relation: -len(relation.right))[:1]
    return relations


def _counts_of_both(one: ResultTable, other: ResultTable) -> list[Relation]:
    """Columns of counts that two tables call alike, of the same rows."""
    relations = []
    for a in one.numeric:
        for b in other.numeric:
            if one.columns[a] and one.columns[a].casefold() == other.columns[b].casefold():
                equations = tuple(_same_rows(TableGrid(one), a, TableGrid(other), b))
                counts = [
                    equation for equation in equations if all(p.number and p.number.is_count for p in equation.places)
                ]
                relation = Relation(tuple(counts))
                agreed = {n.value for equation in relation.right if (n := equation.target.number) and n.value >= LARGE}
                if relation.is_kept and len(agreed) >= FEWEST:
                    relations.append(relation)
    return relations


def _same_rows(grid: TableGrid, target: int, other: TableGrid, column: int) -> Iterator[Equation]:
    """That the same number stands in the same line of both."""
    names = {name.casefold(): line for line, name in enumerate(TableGrid(other.table, not other.turned).names) if name}
    for line, name in enumerate(TableGrid(grid.table, not grid.turned).names):
        if name.casefold() in names and name:
            equation = Equation("same", grid.place(line, target), (other.place(names[name.casefold()], column),))
            if equation.holds() is not None:
                yield equation


@dataclass(frozen=True)
class Multiple:
    """A column of counts that is, on every row, the same whole number of times another."""

    larger: NumberPlace
    smaller: NumberPlace
    factor: int
    rows: int


def exact_multiples(tables: Sequence[ResultTable]) -> list[Multiple]:
    """Columns of counts, in one table or two of the same rows, of which one is a whole multiple of the other."""
    multiples = []
    for one, other in [*((table, table) for table in tables), *combinations(tables[:MOST_TABLES], 2)]:
        for a in one.numeric:
            for b in other.numeric:
                if one is other and a == b:
                    continue
                equations = _same_rows(TableGrid(one), a, TableGrid(other), b)
                pairs = [eq.places for eq in equations if all(p.number and p.number.is_count for p in eq.places)]
                factor = _factor([(p.number.value, q.number.value) for p, q in pairs if p.number and q.number])
                if factor is not None and factor > 1:
                    multiples.append(Multiple(pairs[0][0], pairs[0][1], round(factor), len(pairs)))
                elif factor is not None and one is not other:
                    multiples.append(Multiple(pairs[0][1], pairs[0][0], round(1 / factor), len(pairs)))
    return multiples


def _factor(pairs: Sequence[tuple[float, float]]) -> float | None:
    """What all pairs differ by, if that is a whole number of times, no power of ten, and of several values."""
    if len({one for one, _ in pairs}) < FEWEST + 1 or any(one <= 0 or other <= 0 for one, other in pairs):
        return None
    one, other = pairs[0]
    if not all(a * other == b * one for a, b in pairs):
        return None
    whole = max(one, other) / min(one, other)
    powers = (1.0, 10.0, 100.0, 1000.0)
    return one / other if whole == round(whole) and whole not in powers else None
