"""What every reader returns: the rows of a source, before its columns mean anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import plain
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

    def found_in(self, known: Sequence[str]) -> Columns:
        """The same without attributes that the source does not have, which were asked for `IfThere`."""
        return replace(self, attributes=tuple(str(name) for name in self.attributes if name in known))


@dataclass(frozen=True)
class Rows:
    """Rows of one source: the columns that were asked for, by their names there."""

    table: pa.Table
    title: str
    """What messages call the source."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """How it was read: format, delimiter, encoding."""
    lines: Callable[[Sequence[int]], Sequence[int]] | None = None
    """Physical lines of row positions in ascending order; None when the source has no lines."""
    typed: bool = True
    """False when the format holds only text, as CSV does, so that numbers have to be recognised."""
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Labels that the source declares, in its order, by column."""

    def places(self, positions: Iterable[int]) -> str:
        """Where these rows are, for a message: physical lines, or positions where there are no lines."""
        numbers = list(self.numbers(islice(positions, SHOWN_PROBLEMS + 1)).values())
        kind = ("line" if self.lines else "row") + "s" * (len(numbers) > 1)
        return f"{kind} {some(numbers, SHOWN_PROBLEMS)}" + ("" if self.lines else " (the first is row 0)")

    def numbers(self, positions: Iterable[int]) -> dict[int, int]:
        """The line of each row position, or the position itself where there are no lines."""
        ascending = sorted(set(map(int, positions)))
        return dict(zip(ascending, self.lines(ascending) if self.lines else ascending, strict=True))

    def all_numbers(self) -> npt.NDArray[np.int64]:
        """The line of every row, or its number from 1 where there are no lines."""
        every = range(self.table.num_rows)
        return np.array(self.lines(every), np.int64) if self.lines else np.arange(1, len(every) + 1)

    def refuse_long(self, longest: int) -> None:
        """Refuse cells of more than `longest` bytes: every one, with its line, column and size."""
        problems = []
        for name in self.table.column_names:
            column = plain(self.table[name])
            if not pa.types.is_large_string(column.type):
                continue
            sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy()
            for row in np.flatnonzero(sizes > longest)[:SHOWN_PROBLEMS]:
                problems.append(f"{self.places([row])}, column {name!r}: {sizes[row]:,} bytes")
        if problems:
            raise TableError(
                f"{self.title} has cells that are too long for a text",
                problems=problems,
                expected=f"at most {longest:,} bytes",
                fix="shorten them, or allow longer ones: longest=… (--longest BYTES)",
            )


def column_title(name: str, source: str) -> str:
    """What messages call a column."""
    return f"the column {name!r} of {source}"


def require_columns(title: str, names: Iterable[str], known: Sequence[str]) -> list[str]:
    """The columns to read; refuses those that the source lacks, all at once, and names that stand for two columns."""
    names = [name for name in names if name in known or not isinstance(name, IfThere)]
    if len(known) > MOST_COLUMNS:
        raise TableError(
            f"{title} has more than {MOST_COLUMNS:,} columns",
            fix="keep the columns of texts, labels, ids and attributes; rows may have been taken for columns",
        )
    repeated = [name for name, count in Counter(known).items() if count > 1 and (name or name in names)]
    if repeated:
        numbers = {name: [str(number) for number, other in enumerate(known, 1) if other == name] for name in repeated}
        raise TableError(
            f"{title} has columns of the same name",
            problems=[f"{name!r} is the name of columns {', '.join(own)}" for name, own in numbers.items()],
            expected="a name of its own for each column",
            fix="rename them in the first line of the file",
        )
    missing = [name for name in names if name not in known]
    if missing:
        raise UnknownNameError(
            f"{title} has no column called {', '.join(map(repr, missing))}",
            problems=[_missing_column(name, known) for name in missing],
            expected=f"names among its columns: {some(map(repr, known), SHOWN_COLUMNS)}",
            fix="name the columns of your data: text, label, id, attributes (--text, --label, --id, --attribute)",
        )
    return names


def _missing_column(name: str, known: Sequence[str]) -> str:
    near = nearest_name(name, known)
    # the one column whose name holds this one as a word: `tweet` may stand for `tweet_text`
    longer = [other for other in known if name.casefold() in re.split(r"[\W_]+", other.casefold())]
    if near is None and len(longer) == 1:
        near = longer[0]
    return f"{name!r} is missing" + (f"; did you mean {near!r}?" if near is not None else "")
