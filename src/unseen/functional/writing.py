"""Suites as CSV files that `load_suite` reads back, with a JSON file beside each that says how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.attributes import attribute_column
from unseen.errors import InputError
from unseen.functional.suite import ROLES, TWIN_KEYS
from unseen.store import atomic, read_json, sha256_of, write_json
from unseen.store.datasets import encode_labels
from unseen.store.files import csv_rows, holds, twin_of
from unseen.types import Dataset, Origin, some, string_array


def suite_of(
    name: str, rows: Sequence[Mapping[str, str | None]], label_names: Sequence[str], origin: Origin | None = None
) -> Dataset:
    """The suite of these cases, each with `id`, `text`, `label` and attributes; what no case has is left out."""
    attributes = [role for role in ROLES if any(row.get(role) is not None for row in rows)]
    columns = {key: string_array([row.get(key) for row in rows]) for key in ("id", "text", "label", *attributes)}  # type: ignore[misc]
    columns["label"] = encode_labels(columns["label"], tuple(label_names))
    return Dataset(name, pa.table(columns), tuple(label_names), tuple(attributes), origin or Origin("given"))


def write_suite(suite: Dataset, path: str | Path) -> Path:
    """Write the cases as CSV, and beside it NAME.json: labels in their order, origin, hash of the CSV.

    Texts stand there as a model must see them, so one that begins like a formula is a formula to a spreadsheet.
    Refuses attributes that a CSV file would give back as something else, and files that are not suites of ours.
    """
    path = Path(path)
    refuse_foreign(path)
    _refuse_too_few(suite)
    _refuse_changing(suite)
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(suite.table.column_names)
        for columns in suite.batches(*suite.table.column_names):
            for row in zip(*columns, strict=True):
                write_row(["" if value is None else value for value in row])
    about = {"suite": suite.name, "label_names": suite.label_names, "attributes": suite.attributes, "cases": len(suite)}
    write_json(twin_of(path, TWIN_KEYS), {**about, "origin": asdict(suite.origin), "csv_sha256": sha256_of(path)})
    return path


def refuse_foreign(path: Path, keys: set[str] = TWIN_KEYS) -> None:
    """Refuse to write where somebody's own file would be lost, a suite edited by hand included."""
    twin = path.with_suffix(".json")
    if path.suffix != ".csv":
        raise InputError(f"{path} does not end in .csv", fix=f"-o {path.with_suffix('.csv')}")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not a file", fix="give -o another name")
    for each in (path, twin):
        if each.exists() and not holds(twin, keys):
            raise InputError(
                f"{each} is not a file of unseen's and would be overwritten",
                fix="give -o another name, or move that file away",
            )
    if path.exists() and read_json(twin)["csv_sha256"] != sha256_of(path):
        raise InputError(
            f"{path} was changed since unseen wrote it", fix="give -o another name, or move that file away"
        )


def formulas(suite: Dataset) -> int:
    """How many texts a spreadsheet would take for a formula."""
    return int(pc.sum(pc.match_substring_regex(suite.texts, r"^[=+\-@\t\r]")).as_py() or 0)


def _refuse_too_few(suite: Dataset) -> None:
    if len(suite) < 2:
        raise InputError(
            f"{suite.name} has {len(suite)} cases", expected="at least two: fewer cannot be read back", fix="write more"
        )


def _refuse_changing(suite: Dataset) -> None:
    """An attribute whose values all look like numbers, dates or lists is read back as such."""
    problems = []
    for name in suite.attributes:
        column = suite.table[name]
        if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
            continue
        strings = column.cast(pa.large_string())
        again = attribute_column(strings, name, typed=False)
        same = not pa.types.is_list(again.type) and not pa.types.is_large_list(again.type)
        if not (same and again.cast(pa.large_string()).equals(strings)):
            problems.append(f"{name}: {some(strings.drop_null().unique().to_pylist(), 3)}")
    if problems:
        raise InputError(
            "a CSV file would give these attributes back as other values",
            problems=problems,
            expected="values that are not all written like 1.0, dates with times, or lists, and that are not blank",
            fix="put a letter before them",
        )
