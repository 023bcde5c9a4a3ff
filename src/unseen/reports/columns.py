"""Tables by their columns: for each line of a table a part of a run, for each column what is shown of that part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unseen.reports.formats import Cell, Table
from unseen.reports.record import RunRecord
from unseen.types.numbers import number, scored

Column = Callable[[RunRecord], Cell]
"""The cell of a line, from what was measured there."""
Writer = Callable[[float | None], str]


def table_of(
    title: str,
    heads: str | tuple[str, ...],
    lines: Mapping[str, RunRecord] | Iterable[tuple[tuple[Cell, ...], RunRecord]],
    columns: Mapping[str, Column],
    note: str = "",
) -> Table:
    """A table with a line for each part of a run; `heads` stand over the names of the parts, columns by their heading.

    `lines` are parts by name (see `RunRecord.by`), or each with several names.
    """
    named = [((name,), part) for name, part in lines.items()] if isinstance(lines, Mapping) else lines
    rows = tuple((*names, *(cell(part) for cell in columns.values())) for names, part in named)
    return Table(title, (*((heads,) if isinstance(heads, str) else heads), *columns), rows, note)


def score(metric: str, write: Writer = number, slice: str = "all", **tags: Any) -> Column:
    """A column of numbers with their intervals."""
    return lambda part: scored(part.row(metric, slice, **tags), write)


def value(metric: str, write: Writer = number, slice: str = "all", **tags: Any) -> Column:
    """A column of numbers alone."""
    return lambda part: write(part.value(metric, slice, **tags))
