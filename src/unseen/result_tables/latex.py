"""The tabulars of a LaTeX file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from unseen.errors import InputError
from unseen.result_tables.table import PrintedCell, ResultTable, made_table, refuse_many

TABULAR = re.compile(r"\\(begin|end)\{(tabular[*xy]?|longtable)\}")
INNER = re.compile(r"\\begin\{tabular\}(?:\[[^\]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}([^&]*?)\\end\{tabular\}")
"""A tabular that only breaks the lines of a cell."""
RULE = re.compile(r"\\(?:toprule|midrule|bottomrule|hline|specialrule)\b(?:\{[^{}]*\})*(?:\[[^\]]*\])?")
PART_RULE = re.compile(r"\\(?:cmidrule|cline)(?:\([^)]*\))?\{[^{}]*\}")
LEADING = re.compile(rf"(?:\s|{RULE.pattern}|{PART_RULE.pattern})*")
ROW_END = re.compile(r"\\\\\*?(?:\[[^\]]*\])?|\\tabularnewline")
COLUMN_BREAK = re.compile(r"(?<!\\)&")
MULTICOLUMN = re.compile(r"\\multicolumn\{(\d{1,3})\}\{(?:[^{}]|\{[^{}]*\})*\}")
MULTIROW = re.compile(r"\\multirow\{[^{}]*\}(?:\[[^\]]*\])?\{[^{}]*\}")
CAPTION = re.compile(r"\\caption(?:\[[^\]]*\])?\{")
BOLD = re.compile(r"\\(?:textbf|mathbf|boldsymbol|bm)\b|\\bf(?:series)?\b")
SYMBOLS = {r"\pm": "±", r"\%": "%", r"\&": "&", r"\_": "_", r"\#": "#", r"\$": "", "~": " ", r"\,": " ",
           r"\Delta": "Δ", r"\alpha": "α", r"\beta": "β", r"\uparrow": "↑", r"\downarrow": "↓", r"\times": "×",
           r"\dagger": "†", r"\ddagger": "‡", r"\ast": "*", r"\;": " ", r"\!": "", r"\ ": " ", "--": "–"}  # fmt: skip
SYMBOL = re.compile("|".join(re.escape(name) + (r"(?![A-Za-z])" if name[-1].isalpha() else "") for name in SYMBOLS))
COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\[[^\]]*\])?")
IGNORED = re.compile(r"(?m)^\s*%\s*lint:\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)")
WIDEST, DEEPEST = 200, 5


def latex_tables(text: str, file: str) -> list[ResultTable]:
    r"""Every tabular, with the caption of its float; `% lint: RULE: reason` in the float says what does not apply."""
    bare = re.sub(r"(?m)(?<!\\)%.*$", "", text)
    tables = []
    for begin, end in _environments(bare, file):
        start = _after_arguments(bare, begin.end(), 2 if begin[2] in ("tabular*", "tabularx", "tabulary") else 1)
        caption, around = _float_of(bare, begin.start(), end)
        context = f"{caption}\n{latex_text(bare[end : around[1]])}"
        first = bare.count("\n", 0, around[0])
        lines = text.splitlines()[first : bare.count("\n", 0, around[1]) + 1]
        ignored = IGNORED.findall("\n".join(lines))
        body = INNER.sub(lambda match: match[1].replace("\\\\", " "), bare[start:end])
        table = _table(body, bare.count("\n", 0, start) + 1, file, (caption, context), ignored)
        if table is not None:
            tables.append(table)
            refuse_many(tables, file)
    return tables


def _environments(text: str, file: str) -> Iterator[tuple[re.Match[str], int]]:
    """The beginning and the end of each tabular that stands in no other."""
    opened: list[re.Match[str]] = []
    for match in TABULAR.finditer(text):
        if match[1] == "begin":
            opened.append(match)
            if len(opened) > DEEPEST:
                break
        elif opened and opened[-1][2] == match[2]:
            begin = opened.pop()
            if not opened:
                yield begin, match.start()
    if opened:
        line = text.count("\n", 0, opened[0].start()) + 1
        raise InputError(f"{file}:{line}: a {opened[0][2]} begins and does not end, or holds too many others")


def _table(body: str, line: int, file: str, about: tuple[str, str], ignored: list[str]) -> ResultTable | None:
    header: list[list[PrintedCell]] = []
    rows: list[list[PrintedCell]] = []
    has_rules = len(RULE.findall(body)) > 1
    for cells, ruled in _rows(body, line):
        # a rule after the first row ends the header; without rules it is the first row
        if not header or (not ruled and not rows and has_rules and not any(cell.number for cell in cells[1:])):
            header.append(cells)
        else:
            rows.append(cells)
    if not header:
        return None
    width = max(map(len, [*header, *rows]))
    if width > WIDEST:
        raise InputError(f"{file}:{line}: a table has {width} columns", expected=f"at most {WIDEST}")
    names = [" ".join(dict.fromkeys(row[at].text for row in header if at < len(row) and row[at].text))
             for at in range(width)]  # fmt: skip
    top = [PrintedCell(name, name, header[0][0].line) for name in names]
    rules = frozenset(name.strip() for listed in ignored for name in listed.split(","))
    return made_table(file, top, rows, *about, rules)


def _rows(body: str, line: int) -> Iterator[tuple[list[PrintedCell], bool]]:
    """Each row, and whether a whole rule stands right above it that is not the first."""
    place = seen = 0
    ends = [*ROW_END.finditer(body)]
    for end in [*((match.start(), match.end()) for match in ends), (len(body), len(body))]:
        piece = body[place : end[0]]
        rules = len(RULE.findall(piece))
        content = PART_RULE.sub("", RULE.sub("", piece))
        if content.strip():
            before = LEADING.match(piece)
            at = line + body.count("\n", 0, place + (before.end() if before else 0))
            yield _cells(content.strip(), at), bool(rules and seen)
            seen += 1
        place = end[1]


def _cells(content: str, line: int) -> list[PrintedCell]:
    cells = []
    for piece in COLUMN_BREAK.split(content):
        span = MULTICOLUMN.search(piece)
        cell = PrintedCell(piece.strip(), latex_text(piece), line, BOLD.search(piece) is not None)
        cells += [cell] * min(int(span[1]) if span else 1, WIDEST + 1)
    return cells


def latex_text(piece: str) -> str:
    r"""What a piece of LaTeX prints, roughly.

    >>> latex_text(r"\textbf{71.5}$_{\pm 0.4}$\%"), latex_text(r"\multicolumn{2}{c}{Dev F$_1$}")
    ('71.5± 0.4%', 'Dev F1')
    """
    text = MULTIROW.sub("", MULTICOLUMN.sub("", piece))
    text = SYMBOL.sub(lambda match: SYMBOLS[match[0]], text)
    text = COMMAND.sub("", text)
    return " ".join(re.sub(r"[{}$_]|\^(?=\{)", "", text).split())


def _after_arguments(text: str, place: int, count: int) -> int:
    """Where the arguments of an environment end: `[t]{lcc}`."""
    for _ in range(count):
        while place < len(text) and text[place] in " \n[":
            place = text.find("]", place) + 1 if text[place] == "[" and "]" in text[place:] else place + 1
        place = _closing(text, place) if text[place : place + 1] == "{" else place
    return place


def _closing(text: str, place: int) -> int:
    """Behind the bracket that closes the one at `place`."""
    depth = 0
    for at in range(place, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at + 1
    return len(text)


def _float_of(text: str, begin: int, end: int) -> tuple[str, tuple[int, int]]:
    """The caption of the float that holds a tabular, and where the float stands."""
    top = max(text.rfind("\\begin{table", 0, begin), text.rfind("\\end{table", 0, begin))
    if top < 0 or not text.startswith("\\begin{table", top):
        return "", (begin, end)
    bottom = text.find("\\end{table", end)
    bottom = len(text) if bottom < 0 else bottom
    caption = CAPTION.search(text, top, bottom)
    inside = "" if caption is None else latex_text(text[caption.end() : _closing(text, caption.end() - 1) - 1])
    return inside, (top, bottom)
