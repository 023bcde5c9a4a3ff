"""Predictions as tables: ours and anyone's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from unseen.errors import InputError, TableError, UnknownNameError
from unseen.types import Dataset, Origin, Predictions, some, string_array

HARD = ("prediction", "predicted", "pred", "label")
"""Columns that may hold a predicted label where there are no probabilities."""


def read_predictions(path: str | Path, data: Dataset) -> Predictions:
    """The predictions in a CSV or Parquet file for the labels of `data`.

    A column `id`, and either one column of probabilities per label, named by the label (or `p_` and the
    label), or one column `prediction` with a label in each row. Predicted labels become probabilities of
    one and zero, and the origin says `hard`: such predictions have no ranking and no calibration.
    """
    path = Path(path)
    try:
        table = pq.read_table(path) if path.suffix == ".parquet" else _read_csv(path)
    except (OSError, pa.ArrowInvalid) as cause:
        raise InputError(f"cannot read predictions from {path}: {cause}") from cause
    if "id" not in table.column_names:
        raise InputError(
            f"{path} has no column 'id'", expected="id, then a probability per label", got=str(table.column_names)
        )
    columns = {name: _column_of(name, table.column_names) for name in data.label_names}
    missing = [name for name, column in columns.items() if column is None]
    origin = Origin("given", {"file": path.name, "hard": bool(missing)})
    if not missing:
        values = np.column_stack([_numbers(table[str(columns[name])], path, name) for name in data.label_names])
    elif len(missing) < len(columns):
        raise InputError(
            f"{path} lacks the probabilities of {some(missing)}", expected=f"a column per label: {some(columns)}"
        )
    else:
        values = _one_hot(table, data, path)
    return Predictions(string_array(table["id"].cast(pa.string()).combine_chunks()), values, data.label_names, origin)


def _read_csv(path: Path) -> pa.Table:
    as_text = pacsv.ConvertOptions(column_types={"id": pa.string()}, strings_can_be_null=True)
    return pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True), convert_options=as_text)


def _column_of(label: str, columns: list[str]) -> str | None:
    return next((each for each in (f"p_{label}", label) if each in columns), None)


def _numbers(column: pa.ChunkedArray, path: Path, label: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid as cause:
        raise TableError(f"{path}: the probabilities of {label!r} are not all numbers", got=str(cause)) from cause


def _one_hot(table: pa.Table, data: Dataset, path: Path) -> np.ndarray[Any, Any]:
    column = next((each for each in HARD if each in table.column_names), None)
    if column is None:
        raise InputError(
            f"{path} has no predictions",
            expected=f"a column of probabilities per label ({some(data.label_names)}), or a column 'prediction'",
            got=str(table.column_names),
        )
    said = table[column].cast(pa.string()).to_pylist()
    for each in dict.fromkeys(said):
        if each not in data.label_names:
            raise UnknownNameError.of("label", str(each), data.label_names)
    codes = [data.label_names.index(each) for each in said]
    return np.eye(len(data.label_names))[codes]
