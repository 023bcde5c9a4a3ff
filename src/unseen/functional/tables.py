"""Suites in tables: read from anybody's files, and written as CSV with a JSON file beside it that says how it was made.

A published suite is recognised by its columns; in other tables columns have their usual names, or names that are given.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.catalogue import card, cards, load_card
from unseen.data.columns import attribute_column
from unseen.data.labels import declare
from unseen.data.rows import OUR_COLUMNS
from unseen.data.tables import column_names, load_table, load_texts
from unseen.errors import InputError, TableError, UnknownNameError, UnseenWarning
from unseen.functional.catalogue import Published, published, recognised
from unseen.functional.suite import (
    KINDS,
    MAIN,
    ROLES,
    as_suite,
    first_of,
    in_our_words,
    named_suite,
    note,
)
from unseen.registry import require_known
from unseen.store import read_json, sha256_of, write_json
from unseen.store.files import holds, twin_of, write_rows
from unseen.types import Dataset, some
from unseen.types.arrays import encode_labels, is_list

TWIN_KEYS = {"suite", "csv_sha256"}
"""What the JSON file beside a suite of ours holds at least."""
NEEDED = ("text", "label", "functionality")


def suite_of(source: Any, attributes: Sequence[str] = ()) -> Dataset:
    """A Dataset as a suite; of a file or of a known suite, what `load_suite` gives."""
    if isinstance(source, Dataset):
        return as_suite(source)
    if not isinstance(source, str | Path):
        kinds = "a file, the name of a known suite, or a Dataset"
        raise InputError("this is no suite", expected=kinds, got=type(source).__name__)
    return load_suite(source, attributes=attributes)


def load_suite(
    source: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    labels: Sequence[str] | Mapping[str, str] | None = None,
    attributes: Sequence[str] = (),
    data_dir: str | Path | None = None,
    file: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    """The suite in a table, or a known dataset that is one (`hatecheck`).

    A published suite is recognised by its columns (`unseen.functional.catalogue`). `columns` says which column is
    what, {ours: theirs}, where that is not enough; `text`, `label` and `id` are among ours. Every other column is an
    attribute, but for those to `ignore`; `attributes` must be among them. Labels may be declared that no case has; a
    suite that unseen wrote and nobody has changed declares its own, in the JSON file beside it.
    """
    columns = dict(columns or {})
    require_known("part of a suite", [*MAIN, *ROLES], *columns)
    if not Path(source).is_file():
        if str(source) not in cards():
            raise _unknown_suite(str(source))
        overrides: dict[str, Any] = {"labels": labels} if labels else {}
        overrides |= {name: columns.pop(name) for name in MAIN if name in columns}
        if ignore:
            overrides["attributes"] = _without(card(str(source)).attributes, ignore)
        return as_suite(load_card(str(source), data_dir, file, **overrides), columns)
    names = _without(column_names(source, delimiter, encoding), ignore)
    known = recognised(names)
    by_role = _columns_by_role(names, columns, known)
    if lacking := [role for role in NEEDED if role not in by_role]:
        raise InputError(
            f"{source} is not a suite: no column is known as the {' or the '.join(lacking)} of a case",
            got=some(names, 20),
            fix=f"name it: columns={{'{lacking[0]}': …}} (--column {lacking[0]}=… on the command line)",
        )
    text, label, id = (by_role.pop(role, None) for role in MAIN)
    labels = labels or (_declared_beside(Path(source)) if label == "label" else None)
    further = [name for name in names if name and name not in OUR_COLUMNS]
    kept = [name for name in dict.fromkeys([*by_role.values(), *attributes, *further]) if name not in (text, label, id)]
    reading = {"text": text, "id": id, "delimiter": delimiter, "encoding": encoding}
    table = _CaseTable(source, str(label), labels, kept, reading)
    try:
        data = table.dataset()
    except TableError as refusal:
        filled = table.with_first_label(by_role["kind"], known) if "kind" in by_role else None
        if filled is None:
            if "unlabelled" in (refusal.fix or ""):  # of a suite no row is left out
                refusal.fix = (
                    "give each case its label; invariance and directional cases (INV, DIR) need none, but labels that "
                    "no case has are to be declared: labels=['…', '…']"
                )
            raise
        data = filled
    except InputError:  # a column that nobody asked for may hold what no attribute can
        asked = [name for name in kept if name in by_role.values() or name in attributes]
        data = replace(table, attributes=asked).dataset()
    return named_suite(data if known is None else _members(data, known), by_role, known)


@dataclass(frozen=True)
class _CaseTable:
    """A table of cases, and which of its columns is what."""

    source: str | Path
    label: str
    labels: Sequence[str] | Mapping[str, str] | None
    attributes: Sequence[str]
    reading: Mapping[str, Any]
    """What `load_table` is told besides: the columns of texts and ids, delimiter and encoding."""

    def dataset(self, **options: Any) -> Dataset:
        """The table with its labels; of declared ones, some may have no case."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no row has the declared label", UnseenWarning)
            return load_table(
                self.source, label=self.label, attributes=self.attributes, labels=self.labels, **self.reading, **options
            )

    def with_first_label(self, kind: str, known: Published | None) -> Dataset | None:
        """The table with the first label wherever a case that is not judged by it has none; None when more is wrong.

        Invariance and directional cases are judged by their reference, so tables leave their label empty.
        """
        declared = declare(self.labels, None)
        try:
            names = declared.names if declared else self.dataset(drop=["unlabelled"]).label_names
            raw = dict(declared.raw) if declared else {name: name for name in names}
            filled = self.reading["id"] or self.reading["text"]  # a column of as many values as cases
            whole = load_table(self.source, label=filled, attributes=self.attributes, **self.reading)
            _, codes = load_texts(self.source, list(raw), label=self.label, **self.reading)
        except TableError:
            return None
        kinds = in_our_words(whole.attribute(kind), known.values.get("kind") if known else None)
        if not set(kinds.filter(pa.array(codes < 0)).to_pylist()) <= set(KINDS[1:]):
            return None
        note(f"{(codes < 0).sum()} cases of {whole.name} have no label: tables by label count them as {names[0]!r}")
        meant = [names[0], *raw.values()]  # the first for -1
        labels = pa.chunked_array([pa.array([meant[code + 1] for code in codes], pa.large_string())])
        params = dict(whole.origin.params) | {"labels": raw if declared else list(names)}
        params["columns"] = dict(params["columns"]) | {"label": self.label}
        table = whole.table.set_column(2, "label", encode_labels(labels, names))
        return Dataset(whole.name, table, names, whole.attributes, replace(whole.origin, params=params))


def _unknown_suite(name: str) -> InputError:
    """The error for a name that is no file; of a published suite that nobody can fetch, where it is to be had."""
    fetched = [known for known in cards() if set(card(known).attributes) & set(ROLES["functionality"])]
    others = {known: suite for known, suite in published().items() if known not in fetched}
    if name in others:
        fix = f"get it from {others[name].homepage} and name the file: it is recognised by its columns"
        return InputError(f"{others[name].title} is not fetched by its name", fix=fix)
    files = f"or a file; files of {', '.join(others)} are recognised by their columns"
    return UnknownNameError.of("file or known suite", name, fetched, fix=files)


def _without(names: Sequence[str], ignore: Collection[str]) -> list[str]:
    require_known("column to ignore", names, *ignore)
    return [name for name in names if name not in ignore]


def _columns_by_role(names: Sequence[str], given: Mapping[str, str], known: Published | None) -> dict[str, str]:
    """The column of each part of a suite that has one: as given, as its definition says, or by its usual names."""
    usual: dict[str, Sequence[str]] = {**MAIN, **ROLES}
    if known is not None:  # what a definition does not name has our name or none
        usual = {**known.roles, **{role: own[:1] for role, own in usual.items() if role not in known.roles}}
    columns: dict[str, str] = {}
    for role, own in usual.items():
        if role not in given and (column := first_of(own, [name for name in names if name not in columns.values()])):
            columns[role] = column
    return {**columns, **given}


def _members(data: Dataset, known: Published) -> Dataset:
    """The rows that are part of a published suite."""
    rows = list(range(len(data)))
    for column, members in known.keep.items():
        if column in data.attributes:
            values = data.attribute(column).to_pylist()
            rows = [row for row in rows if str(values[row]) in members]
    if not rows:
        raise TableError(f"no row of {data.name} is part of {known.title}", expected=f"{dict(known.keep)}")
    return data if len(rows) == len(data) else data.take(rows)


def _declared_beside(path: Path) -> Sequence[str] | None:
    """The labels in the JSON file beside a suite that unseen wrote, if the suite is still what was written."""
    twin = path.with_suffix(".json")
    if path.suffix != ".csv" or not holds(twin, TWIN_KEYS):
        return None
    about = read_json(twin)
    return about.get("label_names") if about["csv_sha256"] == sha256_of(path) else None


def write_suite(suite: Dataset, path: str | Path) -> Path:
    """Write the cases as CSV, and beside it NAME.json: labels in their order, origin, hash of the CSV.

    Refuses attributes that a CSV file would give back as something else, and files that are not suites of ours.
    """
    if len(suite) < 2:
        raise InputError(
            f"{suite.name} has {len(suite)} cases", expected="at least two: fewer cannot be read back", fix="write more"
        )
    _refuse_changing(suite)
    about = {"suite": suite.name, "label_names": suite.label_names, "attributes": suite.attributes, "cases": len(suite)}
    return write_cases(suite, suite.table.column_names, path, {**about, "origin": asdict(suite.origin)}, TWIN_KEYS)


def write_cases(
    cases: Dataset, columns: Sequence[str], path: str | Path, about: Mapping[str, Any], keys: set[str]
) -> Path:
    """Write columns of cases as CSV, and beside it `about` them and the hash of the CSV, as JSON with these `keys`.

    Texts stand there as a model must see them, so one that begins like a formula is a formula to a spreadsheet.
    """
    path = Path(path)
    refuse_foreign(path, keys)
    rows = (row for batch in cases.batches(*columns) for row in zip(*batch, strict=True))
    write_rows(path, columns, (["" if value is None else value for value in row] for row in rows))
    write_json(twin_of(path, keys), {**about, "csv_sha256": sha256_of(path)})
    return path


def refuse_foreign(path: Path, keys: set[str] = TWIN_KEYS) -> None:
    """Refuse to write where somebody's own file would be lost, a suite edited by hand included."""
    twin = path.with_suffix(".json")
    if path.suffix != ".csv":
        raise InputError(f"{path} does not end in .csv", fix=f"-o {path.with_suffix('.csv')}")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not a file", fix="give -o another name")
    for file in (path, twin):
        if file.exists() and not holds(twin, keys):
            raise InputError(
                f"{file} is not a file of unseen's and would be overwritten",
                fix="give -o another name, or move that file away",
            )
    if path.exists() and read_json(twin)["csv_sha256"] != sha256_of(path):
        raise InputError(
            f"{path} was changed since unseen wrote it", fix="give -o another name, or move that file away"
        )


def formulas(suite: Dataset) -> int:
    """How many texts a spreadsheet would take for a formula."""
    return int(pc.sum(pc.match_substring_regex(suite.texts, r"^[=+\-@\t\r]")).as_py() or 0)


def _refuse_changing(suite: Dataset) -> None:
    """An attribute whose values all look like numbers, dates or lists is read back as such."""
    problems = []
    for name in suite.attributes:
        column = suite.table[name]
        if is_list(column.type):
            continue
        strings = column.cast(pa.large_string())
        again = attribute_column(strings, name, typed=False)
        if is_list(again.type) or not (again.cast(pa.large_string()).equals(strings)):
            problems.append(f"{name}: {some(strings.drop_null().unique().to_pylist(), 3)}")
    if problems:
        raise InputError(
            "a CSV file would give these attributes back as other values",
            problems=problems,
            expected="values that are not all written like 1.0, dates with times, or lists, and that are not blank",
            fix="put a letter before them",
        )
