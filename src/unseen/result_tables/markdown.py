"""The tables of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from unseen.result_tables.table import PrintedCell, ResultTable, made_table

RULER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
BAR = re.compile(r"(?<!\\)\|")
FENCE = re.compile(r"^\s*(?:```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*)")
BOLD = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
COMMENT = re.compile(r"<!--\s*lint:\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)\s*(?::[^>]*)?-->")


def markdown_tables(text: str, file: str) -> list[ResultTable]:
    """Every table with a header and a ruler; code blocks are passed over.

    A comment `<!-- lint: RULE, RULE: reason -->` above a table says which rules do not apply to it.
    """
    lines = text.splitlines()
    tables, place, fenced = [], 0, False
    while place < len(lines):
        if FENCE.match(lines[place]):
            fenced = not fenced
        elif not fenced and _begins_table(lines, place):
            end = place + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            header, *rows = (_cells(lines[number], number + 1) for number in (place, *range(place + 2, end)))
            tables.append(
                made_table(file, header, rows, _title(lines, place), _context(lines, place), _ignored(lines, place))
            )
            place = end
            continue
        place += 1
    return tables


def _begins_table(lines: Sequence[str], place: int) -> bool:
    return (
        "|" in lines[place]
        and place + 1 < len(lines)
        and "|" in lines[place + 1]
        and RULER.match(lines[place + 1]) is not None
        and len(_pieces(lines[place])) == len(_pieces(lines[place + 1]))
    )


def _pieces(line: str) -> list[str]:
    stripped = line.strip().removeprefix("|")
    if stripped.endswith("|") and not stripped.endswith("\\|"):
        stripped = stripped[:-1]
    return [piece.replace("\\|", "|").strip() for piece in BAR.split(stripped)]


def _cells(line: str, number: int) -> list[PrintedCell]:
    return [PrintedCell(piece, _plain(piece), number, BOLD.match(piece) is not None) for piece in _pieces(line)]


def _plain(piece: str) -> str:
    without_links = LINK.sub(r"\1", re.sub(r"<[^>]{0,100}>", "", piece))
    return re.sub(r"(\*\*|__|`)", "", without_links).replace("\\%", "%").replace("\\*", "*").strip()


def _above(lines: Sequence[str], place: int) -> Iterator[str]:
    """Lines above a table, the nearest first, up to another table."""
    for number in range(place - 1, -1, -1):
        if "|" in lines[number] and RULER.match(lines[number]) is None and lines[number].lstrip().startswith("|"):
            return
        yield lines[number].strip()


def _title(lines: Sequence[str], place: int) -> str:
    """The heading above a table, and the line right above it."""
    nearest = next((line for line in _above(lines, place) if line and not line.startswith("<!--")), "")
    heading = next((match[2] for number in range(place, -1, -1) if (match := HEADING.match(lines[number]))), "")
    last = re.split(r"(?<=[.!?])\s", nearest)[-1] if not nearest.startswith("#") else ""
    return f"{heading}. {_plain(last)}".strip(". ")


def _context(lines: Sequence[str], place: int) -> str:
    """The words of the section that holds a table, and those before the first section of the page."""
    headings = [number for number, line in enumerate(lines) if (match := HEADING.match(line)) and len(match[1]) > 1]
    begin = max((number for number in headings if number <= place), default=0)
    end = min((number for number in headings if number > place), default=len(lines))
    opening = range(min(headings, default=0))
    words = [lines[number] for number in (*opening, *range(begin, end)) if not lines[number].lstrip().startswith("|")]
    return "\n".join(words)


def _ignored(lines: Sequence[str], place: int) -> frozenset[str]:
    names = [match[1] for line in _above(lines, place) for match in COMMENT.finditer(line)]
    return frozenset(name.strip() for listed in names for name in listed.split(","))
