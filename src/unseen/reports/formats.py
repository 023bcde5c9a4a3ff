"""A table as text that other programs read: CSV, Markdown, LaTeX.

In Markdown a name stays a name: whatever comes from a run is escaped unless it says it is Markdown.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from jinja2 import Environment, PackageLoader, StrictUndefined

from unseen.errors import InputError
from unseen.store.files import csv_rows, harmless

Cell = str | int | float | None
Item = TypeVar("Item")

STARTS_LIKE_A_NUMBER = re.compile(r"[−+-]?\.?\d|–$")
SPACE = re.compile(r"\s+")
MARKDOWN = re.compile(r"[\\|*`<]|\](?=\()|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|~(?=~)")
"""What Markdown would take for more than text."""
LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row it would be an argument of the line break before it
    "*": "{*}",  # the same
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "↓": r"$\downarrow$",
    "\u00a0": "~",
}
"""Characters that LaTeX would take for commands, and those that its fonts lack."""
MARKS = re.compile(r"([\\`*_{}\[\]#|~$!^])")
OPENERS = re.compile(r"^([-+=]|\d{1,9}(?=[.)](?:\s|$)))")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LINKS = re.compile(r"(:)(?=//)|(?<=www)(\.)|(@)", re.IGNORECASE)


class Strong(str):
    """A cell that stands out: bold where there is bold."""


class Pale(str):
    """The name of a row that rests on too little to mean much."""


@dataclass(frozen=True)
class Table:
    """A table to be written; numbers in it keep all their digits, so round them, or give them as text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        wrong = [place for place, row in enumerate(self.rows) if len(row) != len(self.columns)]
        if wrong or not self.columns:
            raise InputError(
                f"the table {self.title!r} needs a cell per row and column",
                expected=f"{len(self.columns)} cells in each row, and a column",
                got=f"{len(self.rows[wrong[0]])} in row {wrong[0]}" if wrong else "no columns",
            )

    @classmethod
    def of(cls, title: str, items: Iterable[Item], columns: Mapping[str, Callable[[Item], Cell]]) -> Table:
        """A line for each item; columns by their heading, each with what is shown of an item."""
        return cls(title, tuple(columns), tuple(tuple(cell(item) for cell in columns.values()) for item in items))

    def numeric(self, column: int) -> bool:
        """Whether the cells of a column begin like numbers or are empty, and not all are empty; sentences are none."""
        cells = [text for row in self.rows if (text := _text(row[column]))]
        return bool(cells) and all(STARTS_LIKE_A_NUMBER.match(cell) and not cell.endswith(".") for cell in cells)


def to_csv(table: Table) -> str:
    """Columns and rows alone, without title and note, which no reader of CSV expects.

    A text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    file = io.StringIO(newline="")
    write_row = csv_rows(file)
    for row in (table.columns, *table.rows):
        write_row([harmless(cell) if isinstance(cell, str) else _text(cell) for cell in row])
    return file.getvalue()


def to_markdown(table: Table) -> str:
    """Title, table and note; what is text stays text, whatever characters it holds."""
    rule = ["---:" if table.numeric(place) else "---" for place in range(len(table.columns))]
    lines = [[_plain(name) for name in table.columns], rule, *([_plain(cell) for cell in row] for row in table.rows)]
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    parts = [f"**{_plain(table.title)}**" if table.title.strip() else "", grid, _plain(table.note)]
    return "\n\n".join(filter(None, parts)) + "\n"


def to_latex(table: Table) -> str:
    r"""A `table` for a document that loads `booktabs`: caption above, note below, nothing to be escaped by hand.

    Letters that the document's fonts lack stay as they are, and LaTeX names them.
    """
    shape = "".join("r" if table.numeric(place) else "l" for place in range(len(table.columns)))
    caption = [rf"\caption{{{_escaped(table.title)}}}"] if table.title.strip() else []
    note = ["", rf"\smallskip{{\footnotesize {_escaped(table.note)}\par}}"] if table.note.strip() else []
    body = [_line(row) for row in table.rows]
    lines = [
        *(r"\begin{table}", r"\centering", *caption, rf"\begin{{tabular}}{{{shape}}}", r"\toprule"),
        *(_line(table.columns), r"\midrule", *body, r"\bottomrule", r"\end{tabular}", *note, r"\end{table}"),
    ]
    return "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {"csv": to_csv, "md": to_markdown, "tex": to_latex}
"""Writers by the ending of the file."""


def _text(cell: Cell) -> str:
    """The cell as text; nothing for None and for what is no number."""
    return "" if cell is None or cell != cell else str(cell)


def _plain(cell: Cell) -> str:
    text = MARKDOWN.sub(lambda mark: f"\\{mark[0]}", _one_line(cell))
    return f"**{text}**" if isinstance(cell, Strong) and text else text


def _escaped(cell: Cell) -> str:
    negative = not isinstance(cell, str) and _text(cell).startswith("-")
    text = _one_line(cell)
    latex = ("$-$" if negative else "") + "".join(LATEX.get(letter, letter) for letter in text[negative:])
    return rf"\textbf{{{latex}}}" if isinstance(cell, Strong) else latex


def _one_line(cell: Cell) -> str:
    """Without line breaks and control characters; a space that must not break stays."""
    parts = _text(cell).split("\u00a0")
    clean = ("".join(letter if letter.isprintable() else " " for letter in part) for part in parts)
    return "\u00a0".join(SPACE.sub(" ", part) for part in clean).strip(" ")


def _line(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_escaped, cells)) + r" \\"


class Markdown(str):
    """Text that is Markdown already and is not escaped again."""

    __slots__ = ()


NOT_STATED = Markdown("**not stated**")


def escaped(value: Any) -> Markdown:
    """`value` as one line that shows as it is: no markup, HTML, link, table cell or list begins in it.

    >>> print(escaped("a|b <i>*x*"), escaped("- [y](http://z)"))
    a\\|b &lt;i&gt;\\*x\\* &#45; \\[y\\](http&#58;//z)
    """
    if isinstance(value, Markdown):
        return value
    # Direction marks, line breaks and lone surrogates are not printable: a name could hide behind them.
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split())
    line = MARKS.sub(r"\\\1", "".join(ENTITIES.get(letter, letter) for letter in line))
    line = LINKS.sub(lambda match: f"&#{ord(match.group())};", line)
    return Markdown(OPENERS.sub(lambda match: f"&#{ord(match.group()[0])};{match.group()[1:]}", line))


def stated(value: Any) -> Markdown:
    """`value` escaped, or a mark that nobody has said it."""
    return escaped(value) if value not in (None, "") else NOT_STATED


@cache
def environment() -> Environment:
    """Templates whose every expression is escaped, and that miss nothing silently; each is compiled once."""
    templates = Environment(
        loader=PackageLoader("unseen.reports"), finalize=escaped, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters |= {"stated": stated, "thousands": lambda count: f"{count:,}"}
    return templates
