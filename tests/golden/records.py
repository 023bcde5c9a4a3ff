"""A folder of results as plain records that can be stored as small text files and compared field by field.

Floats count as equal within `TOLERANCE`, everything else must be the same. Left out is what no two runs share: times,
versions, the machine. Arrays are told by sums, pages by the text that a reader sees, steps by a hash of their settings.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from finished_runs import ANSWERS

TOLERANCE = 5e-6
DIGITS = 9
"""Significant digits of a stored float."""
PASSING = {
    "versions", "host", "timings", "speeds", "finished", "files", "seconds", "cpu_seconds", "wall_seconds", "date",
    "version", "key", "work", "npy_sha256", "tokenizer",
}  # fmt: skip
"""Fields of a JSON file that differ from run to run, from machine to machine, or when a function moves."""
FOLDERS = {"folder"}
"""In settings of steps: the hash of an encoder's folder, which another version of transformers writes otherwise."""
LEFT_OUT = {".cards.json", "costs.csv", "costs.md", "costs.tex", ".steps", "steps", "__pycache__"}
"""Files and folders: the store of steps has a table of its own, and costs are times."""
SHOWN = 12
"""Differences of one file that are told."""
Record = Any
"""Rows of a table, lines of a text, or the content of a JSON file."""


@dataclass(frozen=True)
class Difference:
    """A place where a result is not what was stored."""

    file: str
    place: str
    expected: object
    got: object

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: expected {self.expected!r}, got {self.got!r}"


# -- what is in a folder -----------------------------------------------------------------------------------------------


def records_of(folder: Path) -> dict[str, Record]:
    """Every result in the folder of a finished kind by its path; not its material, nor the store of steps."""
    told = json_of(folder / ANSWERS)
    found: dict[str, Record] = {}
    for number, (command, answer) in enumerate(told["answers"].items(), start=1):
        found[f"answers/{number:02}.json"] = answer_of(command, answer)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        parts = set(path.relative_to(folder).parts)
        if not parts & {*told["material"], *LEFT_OUT, ANSWERS}:
            found |= record_of(path, name)
    if (folder / "run" / "run.json").is_file() and json_of(folder / "run" / "run.json").get("kind") == "cost":
        found = {name: without_costs(record) for name, record in found.items() if ".hash" not in name}
    steps = sorted(steps_of(folder))
    return found | ({"steps.csv": [["step", "needs", "settings"], *map(list, steps)]} if steps else {})


def answer_of(command: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a command answered: its exit code, its lines or JSON, and what it said beside it."""
    out = answer["out"]
    content = lasting(json.loads(out)) if out.startswith(("{", "[")) else steady(out.splitlines())
    if isinstance(content, dict) and "kind" in content:  # a run: its numbers and findings are records of their own
        content |= {name: len(content[name]) for name in ("measurements", "findings")}
    return {"command": command, "code": answer["code"], "out": content, "err": steady(answer["err"].splitlines())}


def record_of(path: Path, name: str) -> dict[str, Record]:
    """The record of one file, under the name by which it is stored."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return {name: list(csv.reader(file))}
    if path.suffix == ".json":
        return {name: lasting(json.loads(path.read_text(encoding="utf-8")))}
    if path.suffix == ".html":
        return {f"{name}.txt": steady(seen_text(path.read_text(encoding="utf-8")))}
    if path.parent.name == "tables":  # the same cells as those of the .csv beside it
        return {f"{name}.hash": [hash_of(steady(path.read_text(encoding="utf-8").splitlines()))]}
    if path.suffix in (".md", ".txt", ".toml", ".yaml"):
        return {name: steady(path.read_text(encoding="utf-8").splitlines())}
    if path.suffix == ".parquet":
        return {f"{name}.csv": sums_of(pq.read_table(path), exact=not name.startswith(("run/map", "map")))}
    if path.suffix == ".npy":
        content = np.load(path)
        columns = content.reshape(len(content), -1)
        return {f"{name}.csv": sums_of(pa.table({"all": (columns**2).sum(axis=1)}), exact=True)}
    return {f"{name}.there": ["a file of this name"]}


def lasting(content: Any, passing: Set[str] = PASSING) -> Any:
    """A JSON value without what differs from run to run."""
    if isinstance(content, Mapping):
        return {name: lasting(value, passing) for name, value in content.items() if name not in passing}
    if isinstance(content, list):
        return [lasting(value, passing) for value in content]
    return steady([content])[0] if isinstance(content, str) else content


DURATION = r"(\d+ h )?(\d+ min )?\d+(\.\d)? (s|min|h)"
VARIABLE = (
    (re.compile(r"\b20(?!24)\d\d-\d\d-\d\d(T[\d:.+]+| \d\d:\d\d UTC)?"), "<date>"),
    (re.compile(rf"\babout a minute\b|\b{DURATION}(?= |;|,|\.|$)(?! (texts|rows))"), "<time>"),
    (re.compile(r"<time> \| [\d.]+ %$"), "<time>"),
    (re.compile(r"through the model, [\d.,]+ a second"), "through the model, <speed> a second"),
    (re.compile(r"\b[\d.,]+ texts/s"), "<speed>"),
    (re.compile(r"\b[\d.,]+ [MG]B\b"), "<memory>"),
    (re.compile(r"( \| 0\.0\d){3}$"), " | <hours>"),
    (re.compile(r"(?<=\d\.\d\.\d )numpy .* python [\d.]+|(?<=\d\.\d\.\d, )numpy .*, python [\d.]+"), "<versions>"),
    (re.compile(r"system \w+, machine [\w\\]+|on \w+, x86_64"), "<machine>"),
)


def steady(lines: Sequence[str]) -> list[str]:
    """Lines with dates and durations masked."""
    found = []
    for line in lines:
        for pattern, mask in VARIABLE:
            line = pattern.sub(mask, line)
        found.append(line)
    return found


COST = re.compile(r"\b\d[\d,.]*( \[\d[\d,.]*, \d[\d,.]*\])?( to \d[\d,.]*)? (ms|s|kB|MB|GB|J)\b")
SPEED = re.compile(r"\b\d[\d,.]* \[\d[\d,.]*, \d[\d,.]*\]")
TIMES = ("speed.", "latency.", "seconds.", "processor_seconds.", "memory.", "energy", "operations.")


def without_costs(record: Record) -> Record:
    """A record of a cost run without what no two runs share: times, speeds, memory, joules; rows and names stay."""
    if isinstance(record, dict):
        return {
            name: without_costs(value) for name, value in record.items() if name not in ("machine", "value", "threads")
        }
    if isinstance(record, list) and record and isinstance(record[0], list):
        return [[line[0], *line[4:]] if str(line[0]).startswith(TIMES) else without_costs(line) for line in record]
    if isinstance(record, list):
        return [without_costs(value) for value in record]
    masked = SPEED.sub("<speed>", COST.sub("<cost>", record)) if isinstance(record, str) else record
    return re.sub(" {2,}", "  ", masked) if isinstance(masked, str) else masked


def sums_of(table: pa.Table, exact: bool) -> list[list[str]]:
    """A line for each column: of numbers their sum and the sum weighted by place, of others a hash."""
    lines = [["column", "rows", "sum", "weighted", "hash"]]
    for name in table.column_names:
        column = table[name]
        if pa.types.is_list(column.type) and pa.types.is_floating(column.type.value_type):
            column = pc.list_flatten(column)
        if pa.types.is_floating(column.type):
            values = np.nan_to_num(column.to_numpy().astype(np.float64))
            place = np.arange(1, len(values) + 1) / max(len(values), 1)
            sums = [repr(float(values.sum())), repr(float(values @ place))] if exact else ["", ""]
            lines.append([name, str(len(values)), *sums, ""])
        else:
            lines.append([name, str(len(column)), "", "", hash_of(column.to_pylist())])
    return lines


def hash_of(content: Any) -> str:
    """A short hash of plain values."""
    said = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:12]


def steps_of(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Every kept step: its name, those it needs, and a hash of its settings; not where its function stands."""
    about = {record["key"]: record for record in map(json_of, folder.rglob("step.json"))}
    for record in about.values():
        needs = {role: about[key]["step"] for role, key in record["needs"].items() if key in about}
        named = " ".join(f"{role}={name}" for role, name in sorted(needs.items()))
        yield record["step"], named, hash_of(lasting(record["settings"], FOLDERS))


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


class _Page(HTMLParser):
    """The text of a page, a line for each block; cells of a row are parted by a bar."""

    HIDDEN = frozenset({"script", "style", "svg", "head"})
    BLOCKS = frozenset({
        "p", "h1", "h2", "h3", "h4", "tr", "li", "div", "section", "figcaption", "summary", "details", "table", "ul",
        "ol", "dt", "dd", "header", "footer", "main", "nav", "pre", "figure", "article", "br", "option", "label",
    })  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self.hidden = 0
        self.formulas = False
        """Within the formulas of measures, which have tests of their own."""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.hidden += tag in self.HIDDEN
        self.formulas = self.formulas or (tag == "dl" and ("class", "computed") in attrs)
        if tag in self.BLOCKS:
            self.lines.append(f"{'#' * int(tag[1])} " if re.fullmatch("h[1-4]", tag) else "")
        elif tag in ("td", "th") and self.lines[-1].strip():
            self.lines[-1] += " | "

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in self.HIDDEN
        self.formulas = self.formulas and tag != "dl"
        if tag in self.BLOCKS:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self.hidden and not self.formulas:
            self.lines[-1] += data


def seen_text(page: str) -> list[str]:
    """What a reader sees of a page, without charts."""
    parser = _Page()
    parser.feed(page)
    lines = (" ".join(line.split()) for line in parser.lines)
    return [line for line in lines if line.strip("# ")]


# -- storing -----------------------------------------------------------------------------------------------------------


def write_records(records: Mapping[str, Record], folder: Path) -> None:
    """Records as text files, floats rounded."""
    for name, record in records.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([map(shorter, row) for row in record])
        elif path.suffix == ".json":
            path.write_text(json.dumps(rounded(record), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        else:
            path.write_text("".join(f"{line}\n" for line in record), encoding="utf-8")


def read_records(folder: Path) -> dict[str, Record]:
    """Records that `write_records` wrote."""
    found: dict[str, Record] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                found[name] = list(csv.reader(file))
        elif path.suffix == ".json":
            found[name] = json_of(path)
        else:
            found[name] = path.read_text(encoding="utf-8").split("\n")[:-1]
    return found


def shorter(cell: str) -> str:
    """A cell of a table, rounded if it is a float."""
    number = float_in(cell)
    return cell if number is None else min(f"{number:.{DIGITS}g}", cell, key=len)


def rounded(content: Any) -> Any:
    """A JSON value with its floats rounded."""
    if isinstance(content, Mapping):
        return {name: rounded(value) for name, value in content.items()}
    if isinstance(content, list):
        return [rounded(value) for value in content]
    return float(f"{content:.{DIGITS}g}") if isinstance(content, float) else content


def float_in(cell: str) -> float | None:
    """The number that a cell holds, if it is one with a fraction or an exponent; ids and counts are no such."""
    if not re.fullmatch(r"-?\d+\.\d+(e[+-]?\d+)?|-?\d+e[+-]?\d+", cell):
        return None
    number = float(cell)
    return number if math.isfinite(number) else None


# -- comparing ---------------------------------------------------------------------------------------------------------


def differences(expected: Mapping[str, Record], got: Mapping[str, Record]) -> list[Difference]:
    """Where two sets of records differ, at most `SHOWN` places in each file."""
    found: list[Difference] = []
    for name in sorted({*expected, *got}):
        if name not in got:
            found.append(Difference(name, "the file", "there", "missing"))
        elif name not in expected:
            found.append(Difference(name, "the file", "none", "there"))
        elif name.endswith(".csv"):
            found += list(table_differences(name, expected[name], got[name]))[:SHOWN]
        else:
            found += list(value_differences(name, "", expected[name], got[name]))[:SHOWN]
    return found


def table_differences(name: str, expected: list[list[str]], got: list[list[str]]) -> Iterator[Difference]:
    """Cells that differ, by line and column."""
    header = expected[0] if expected else []
    if header != (got[0] if got else []):
        yield Difference(name, "header", header, got[0] if got else [])
        return
    if len(expected) != len(got):
        yield Difference(name, "number of rows", len(expected) - 1, len(got) - 1)
    for number, (old, new) in enumerate(zip(expected[1:], got[1:], strict=False), start=2):
        what = " ".join(cell for cell in old[:1] if cell)
        for column, before, after in zip(header, old, new, strict=False):
            if not same_cell(before, after):
                yield Difference(name, f"line {number} ({what}), column {column}", before, after)


def same_cell(expected: str, got: str) -> bool:
    """Whether two cells hold the same text, or nearly the same float."""
    if expected == got:
        return True
    try:
        floats = float_in(expected) is not None or float_in(got) is not None
        return floats and near(float(expected), float(got))
    except ValueError:
        return False


def near(expected: float, got: float) -> bool:
    """Whether two floats are equal but for rounding."""
    return math.isclose(expected, got, rel_tol=TOLERANCE, abs_tol=TOLERANCE * 1e-3)


def value_differences(name: str, place: str, expected: Any, got: Any) -> Iterator[Difference]:
    """Where two JSON values, or two texts, differ."""
    if isinstance(expected, Mapping) and isinstance(got, Mapping):
        for key in dict.fromkeys((*expected, *got)):
            inner = f"{place}.{key}" if place else str(key)
            if (key in expected) != (key in got):
                yield Difference(name, inner, expected.get(key, "none"), got.get(key, "none"))
            else:
                yield from value_differences(name, inner, expected[key], got[key])
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield Difference(name, f"{place} length".strip(), len(expected), len(got))
        for number, (old, new) in enumerate(zip(expected, got, strict=False), start=1):
            yield from value_differences(name, f"{place}[{number}]", old, new)
    elif type(expected) is float or type(got) is float:
        numbers = isinstance(expected, int | float) and isinstance(got, int | float)
        if not (numbers and near(expected, got)):
            yield Difference(name, place, expected, got)
    elif expected != got or type(expected) is not type(got):
        yield Difference(name, place, expected, got)
