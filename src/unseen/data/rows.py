"""What every reader returns: the rows of a source, before its columns mean anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.values import plain
from unseen.errors import SHOWN_PROBLEMS, InputError, TableError, UnknownNameError, nearest_name
from unseen.types import some

SHOWN_COLUMNS = 50
MOST_COLUMNS = 10_000
LONGEST = 1_000_000
"""Bytes of a cell; a longer one is a file that was taken for a text, or a quote that never closes."""
OUR_COLUMNS = ("id", "text", "label")


class IfThere(str):
    """The name of a column that is read where the source has it and not missed where it has not."""


@dataclass(frozen=True)
class Columns:
    """Names of the source's columns that become a Dataset."""

    text: str
    label: str
    id: str | None
    attributes: tuple[str, ...]

    def __post_init__(self) -> None:
        taken = [name for name in self.attributes if name in OUR_COLUMNS]
        if taken:
            raise InputError(
                f"an attribute cannot be called {' or '.join(map(repr, taken))}",
                expected="any other name: every dataset already has the columns id, text and label",
                fix="rename the column in your data, or leave it out of attributes",
            )
        repeated = [name for name, count in Counter(self.attributes).items() if count > 1]
        if repeated:
            raise InputError(f"attributes are named twice: {', '.join(repeated)}", fix="name each attribute once")

    @property
    def names(self) -> list[str]:
        """Every column that must be read, each once."""
        id_column = IfThere("id") if self.id is None else self.id
        return list(dict.fromkeys([self.text, self.label, *self.attributes, id_column]))


@dataclass(frozen=True)
class Rows:
    """Rows of one source: the columns that were asked for, by their names there."""

    table: pa.Table
    title: str
    """What messages call the source."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How it was read: format, delimiter, encoding."""
    lines: Callable[[Sequence[int]], list[int]] | None = None
    """Physical lines of row positions in ascending order; None when the source has no lines."""
    typed: bool = True
    """False when the format holds only text, as CSV does, so that numbers have to be recognised."""
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that the source declares, in its order, by column."""

    def places(self, positions: Iterable[int]) -> str:
        """Where these rows are, for a message: physical lines, or positions where there are no lines."""
        numbers = list(self.numbers(islice(positions, SHOWN_PROBLEMS + 1)).values())
        kind = f"line{'s' * (len(numbers) > 1)}" if self.lines else f"row{'s' * (len(numbers) > 1)}"
        return f"{kind} {some(numbers, SHOWN_PROBLEMS)}" + ("" if self.lines else " (the first is row 0)")

    def numbers(self, positions: Iterable[int]) -> dict[int, int]:
        """The line of each row position, or the position itself where there are no lines."""
        ascending = sorted({int(each) for each in positions})
        return dict(zip(ascending, self.lines(ascending) if self.lines else ascending, strict=True))


def refuse_long(rows: Rows, longest: int) -> None:
    """Refuse cells of more than `longest` bytes: every one, with its line, column and size."""
    problems = []
    for name in rows.table.column_names:
        column = plain(rows.table[name])
        if not pa.types.is_large_string(column.type):
            continue
        sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy()
        found = np.flatnonzero(sizes > longest)
        problems += [f"{rows.places([at])}, column {name!r}: {sizes[at]:,} bytes" for at in found[:SHOWN_PROBLEMS]]
    if problems:
        raise TableError(
            f"{rows.title} has cells that are too long for a text",
            problems=problems,
            expected=f"at most {longest:,} bytes",
            fix="shorten them, or allow longer ones: longest=… (--longest BYTES)",
        )


def require_columns(title: str, wanted: Iterable[str], known: Sequence[str]) -> list[str]:
    """The columns to read; refuses those that the source lacks, all at once, and names that stand for two columns."""
    wanted = [name for name in wanted if name in known or not isinstance(name, IfThere)]
    if len(known) > MOST_COLUMNS:
        raise TableError(
            f"{title} has more than {MOST_COLUMNS:,} columns",
            fix="keep the columns of texts, labels, ids and attributes; rows may have been taken for columns",
        )
    repeated = [name for name, count in Counter(known).items() if count > 1 and (name or name in wanted)]
    if repeated:
        places = [
            f"{name!r} is the name of columns {', '.join(str(at) for at, each in enumerate(known, 1) if each == name)}"
            for name in repeated
        ]
        raise TableError(
            f"{title} has columns of the same name",
            problems=places,
            expected="a name of its own for each column",
            fix="rename them in the first line of the file",
        )
    missing = [name for name in wanted if name not in known]
    if missing:
        raise UnknownNameError(
            f"{title} has no column called {', '.join(map(repr, missing))}",
            problems=[_hint(name, known) for name in missing],
            expected=f"names among its columns: {some(map(repr, known), SHOWN_COLUMNS)}",
            fix="name the columns of your data: text, label, id, attributes (--text, --label, --id, --attribute)",
        )
    return wanted


def _hint(name: str, known: Sequence[str]) -> str:
    near = nearest_name(name, known)
    return f"{name!r} is missing" + (f"; did you mean {near!r}?" if near is not None else "")
