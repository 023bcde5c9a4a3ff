"""Anybody's results as printed tables: run folders, CSV, Markdown, LaTeX, result files of the Hugging Face hub."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from unseen.errors import InputError, UnseenError
from unseen.result_tables.latex import latex_tables
from unseen.result_tables.markdown import markdown_tables
from unseen.result_tables.table import PrintedCell, ResultTable, made_table
from unseen.store.files import door
from unseen.store.plain_yaml import plain_yaml, plain_yaml_list

LARGEST = 1_000_000
"""Characters of a file; what is larger is data and no table that somebody reads."""
HEAD = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
VALUE = re.compile(r"(?m)^[ \t-]*value[ \t]*:")
LONG_FORM = ("model", "dataset", "metric", "value")
RUN_FILE = "measurements.csv"


def read_all_tables(paths: Iterable[str | Path]) -> list[ResultTable]:
    """The tables of all files, and of all files of folders; those that cannot be read in one error."""
    tables, problems = list[ResultTable](), list[str]()
    for path in files_of(paths):
        try:
            tables += read_result_tables(path)
        except UnseenError as cause:
            problems.append("; ".join(filter(None, [cause.message, cause.expected and f"expected {cause.expected}"])))
    if problems:
        raise InputError("result tables cannot be read", problems=problems)
    return tables


def files_of(paths: Iterable[str | Path]) -> list[Path]:
    """The files that are named; of a folder those that may hold tables, of a run folder its measurements."""
    files: dict[Path, None] = {}
    for path in map(Path, paths):
        if (path / RUN_FILE).is_file():
            files[path / RUN_FILE] = None
        elif path.is_dir():
            inner = (file for file in sorted(path.rglob("*")) if file.is_file() and not _is_hidden(file, path))
            files |= dict.fromkeys(file for file in inner if _reader(file) is not None)
        else:
            files[path] = None
    return list(files)


def read_result_tables(path: str | Path) -> list[ResultTable]:
    """The tables of one file, by its ending."""
    path = Path(path)
    read = _reader(path)
    if read is None:
        raise InputError(f"{path} is no file of results", expected=", ".join(READERS))
    with door(path, "result tables"):
        if path.stat().st_size > LARGEST:
            raise InputError(f"{path} is too large for a table of results", expected=f"at most {LARGEST:,} bytes")
        return read(path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"), str(path))


def _is_hidden(file: Path, folder: Path) -> bool:
    parents = file.relative_to(folder).parts[:-1]
    return any(part.startswith(".") and part != ".eval_results" for part in parents)


def _reader(path: Path) -> Callable[[str, str], list[ResultTable]] | None:
    if path.suffix in (".yaml", ".yml") and path.parent.name != ".eval_results":
        return None
    return READERS.get(path.suffix.lower())


def _delimited(text: str, file: str, delimiter: str) -> list[ResultTable]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    lines: list[list[PrintedCell]] = []
    before = 0
    for record in reader:
        lines.append([PrintedCell(field, field.strip(), before + 1) for field in record])
        before = reader.line_num
    lines = [line for line in lines if line]
    return [made_table(file, lines[0], lines[1:])] if lines else []


def _comma_separated(text: str, file: str) -> list[ResultTable]:
    first = text.partition("\n")[0]
    return _delimited(text, file, ";" if first.count(";") > first.count(",") else ",")


def _page(text: str, file: str) -> list[ResultTable]:
    """The tables of a Markdown page, and the results in its head where it is a model card."""
    head = HEAD.match(text)
    tables = markdown_tables(text, file)
    if head is None or "model-index" not in head[1]:
        return tables
    content = plain_yaml(head[1], f"the head of {file}")
    return [*_long_table(list(_index_rows(content.get("model-index"))), file, head[1], 1), *tables]


def _index_rows(index: Any) -> Iterator[list[str]]:
    for model in _mappings(index):
        for result in _mappings(model.get("results")):
            dataset = _mapping(result.get("dataset"))
            where = [str(dataset.get(name, "")) for name in ("name", "config", "split")]
            for metric in _mappings(result.get("metrics")):
                arguments = _mapping(metric.get("args"))
                named = str(
                    metric.get("name") or " ".join([*map(str, arguments.values()), str(metric.get("type", ""))])
                )
                yield [str(model.get("name", "")), " ".join(filter(None, where)), named, str(metric.get("value", ""))]


def _hub_results(text: str, file: str) -> list[ResultTable]:
    rows = []
    for entry in _mappings(plain_yaml_list(text, file)):
        dataset = _mapping(entry.get("dataset"))
        where = " ".join(str(dataset.get(name, "")) for name in ("id", "task_id")).strip()
        rows.append(["", where, str(entry.get("notes", "")).partition(",")[0], str(entry.get("value", ""))])
    return _long_table(rows, file, text, 0)


def _long_table(rows: list[list[str]], file: str, text: str, before: int) -> list[ResultTable]:
    """A table with a row for each value; lines are known where each has its own."""
    places = [text.count("\n", 0, match.start()) + 1 + before for match in VALUE.finditer(text)]
    lines = places if len(places) == len(rows) else [1 + before] * len(rows)
    header = [PrintedCell(name, name, 1 + before) for name in LONG_FORM]
    cells = [[PrintedCell(text, text, line) for text in row] for row, line in zip(rows, lines, strict=True)]
    return [made_table(file, header, cells, context=text)] if rows else []


def _mapping(content: Any) -> Mapping[str, Any]:
    return content if isinstance(content, Mapping) else {}


def _mappings(content: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in content if isinstance(entry, Mapping)] if isinstance(content, list) else []


READERS: dict[str, Callable[[str, str], list[ResultTable]]] = {
    ".md": _page,
    ".tex": latex_tables,
    ".csv": _comma_separated,
    ".tsv": lambda text, file: _delimited(text, file, "\t"),
    ".yaml": _hub_results,
    ".yml": _hub_results,
}
