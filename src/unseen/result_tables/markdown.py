"""The tables of a Markdown page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from unseen.result_tables.table import PrintedCell, ResultTable, made_table, refuse_many

RULER = re.compile(r"^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
BAR = re.compile(r"(?<!\\)\|")
FENCE = re.compile(r"^\s*(?:```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*)")
BOLD = re.compile(r"^(?:\*\*|__)(.+?)(?:\*\*|__)")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
LONGEST_LINE = 10_000
FAR = 300
"""Lines around a table that may be about it."""
COMMENT = re.compile(r"<!--\s*lint:\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)\s*(?::[^>]*)?-->")


def markdown_tables(text: str, file: str) -> list[ResultTable]:
    """Every table with a header and a ruler; code blocks are passed over.

    A comment `<!-- lint: RULE, RULE: reason -->` above a table says which rules do not apply to it.
    """
    lines = [line if len(line) <= LONGEST_LINE else "" for line in text.splitlines()]
    headings = [(number, match[1], match[2]) for number, line in enumerate(lines) if (match := HEADING.match(line))]
    tables, place, fenced = [], 0, False
    while place < len(lines):
        if FENCE.match(lines[place]):
            fenced = not fenced
        elif not fenced and _begins_table(lines, place):
            end = place + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            header, *rows = (_cells(lines[number], number + 1) for number in (place, *range(place + 2, end)))
            heading = next((text for number, _, text in reversed(headings) if number < place), "")
            sections = [number for number, marks, _ in headings if len(marks) > 1]
            title, context = _title(lines, place, heading), _context(lines, place, sections)
            tables.append(made_table(file, header, rows, title, context, _ignored(lines, place)))
            refuse_many(tables, file)
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


def _title(lines: Sequence[str], place: int, heading: str) -> str:
    """The heading above a table, and the line right above it."""
    nearest = next((line for line in _above(lines, place) if line and not line.startswith("<!--")), "")
    last = re.split(r"(?<=[.!?])\s", nearest)[-1] if not nearest.startswith("#") else ""
    return f"{heading}. {_plain(last)}".strip(". ")


def _context(lines: Sequence[str], place: int, sections: Sequence[int]) -> str:
    """The words of the section that holds a table, and those before the first section of the page."""
    begin = max((number for number in sections if number <= place), default=0)
    end = min((number for number in sections if number > place), default=len(lines))
    opening = range(min(sections[0], FAR) if sections else 0)
    near = range(max(begin, place - FAR), min(end, place + FAR))
    return "\n".join(lines[number] for number in (*opening, *near) if not lines[number].lstrip().startswith("|"))


def _ignored(lines: Sequence[str], place: int) -> frozenset[str]:
    names = [match[1] for line in _above(lines, place) for match in COMMENT.finditer(line)]
    return frozenset(name.strip() for listed in names for name in listed.split(","))
