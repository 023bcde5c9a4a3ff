"""Predictions as tables: ours and anyone's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from unseen.errors import InputError, TableError, UnknownNameError
from unseen.store.files import atomic, csv_rows, harmless, unharmed
from unseen.types import Dataset, Origin, Predictions, some, string_array

HARD = ("prediction", "predicted", "pred", "label")
"""Columns that may hold a predicted label where there are no probabilities."""
ALL_OTHERS = "*"


def read_predictions(path: str | Path, data: Dataset, rename: Mapping[str, str] | None = None) -> Predictions:
    """The predictions in a CSV or Parquet file for the labels of `data`.

    A column `id`, and either one column of probabilities per label, named by the label (or `p_` and the
    label), or one column `prediction` with a label in each row. Predicted labels become probabilities of
    one and zero, and the origin says `hard`: such predictions have no ranking and no calibration.

    `rename` maps the file's labels to those of the data, {theirs: ours}; probabilities of labels that become
    one are added, and `*` stands for all predicted labels that are not named. Of two labels, one column of
    probabilities is enough: `{"score": "yes"}`.
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
    rename = dict(rename or {})
    _refuse_strange(rename, data)
    columns = {name: _columns_of(name, table.column_names, rename) for name in data.label_names}
    missing = [name for name, found in columns.items() if not found]
    hard = len(missing) == len(columns)
    origin = Origin("given", {"file": path.name, "hard": hard} | ({"rename": rename} if rename else {}))
    values = _one_hot(table, data, path, rename) if hard else _sums(table, columns, path)
    if missing and not hard:
        if len(columns) > 2 or not rename:
            raise InputError(
                f"{path} lacks the probabilities of {some(missing)}", expected=f"a column per label: {some(columns)}"
            )
        values[:, data.label_names.index(missing[0])] = 1 - values.sum(axis=1)
    ids = string_array(table["id"].cast(pa.large_string()))
    return Predictions(ids if path.suffix == ".parquet" else _unharmed(ids, data), values, data.label_names, origin)


def write_predictions(predictions: Predictions, path: str | Path) -> Path:
    """Write Parquet, or CSV for a path that ends so: `id` and a column of probabilities per label.

    `read_predictions` gives the same numbers back. Columns are named by the label; where that would be
    ambiguous (a label `id`, or `x` beside `p_x`), by `p_` and the label. Predictions that are only labels
    are written as such.
    """
    path = Path(path)
    if path.suffix not in (".parquet", ".csv"):
        raise InputError(f"cannot write predictions to {path.name}", expected="a name that ends in .parquet or .csv")
    columns = _columns(predictions)
    with atomic(path) as temporary:
        if path.suffix == ".parquet":
            pq.write_table(pa.table({"id": predictions.ids} | columns), temporary, compression="zstd")
        else:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                _write_csv(predictions.ids.to_pylist(), columns, file)
    return path


def _columns(predictions: Predictions) -> dict[str, Any]:
    names = predictions.label_names
    if predictions.origin.params.get("hard") and not {"id", *HARD} & set(names):
        return {"prediction": [names[code] for code in predictions.probabilities.argmax(axis=1)]}
    ambiguous = "id" in names or any(f"p_{name}" in names for name in names)
    columns = [f"p_{name}" if ambiguous else name for name in names]
    return dict(zip(columns, predictions.probabilities.T, strict=True))


def _write_csv(ids: list[str], columns: dict[str, Any], file: TextIO) -> None:
    write_row = csv_rows(file)
    write_row(["id", *columns])
    # Python's shortest form of a float is read back as the same float
    values = [each if isinstance(each, list) else map(repr, each.tolist()) for each in columns.values()]
    for name, *row in zip(ids, *values, strict=True):
        write_row([harmless(name), *row])


def _unharmed(ids: pa.ChunkedArray, data: Dataset) -> pa.ChunkedArray:
    """The ids as `write_predictions` got them; somebody else's file has them as they are."""
    plain = string_array([unharmed(each or "") for each in ids.to_pylist()])
    ours, theirs = (pc.is_in(each, value_set=data.ids) for each in (plain, ids))
    return plain if pc.all(ours).as_py() and not pc.all(theirs).as_py() else ids


def _read_csv(path: Path) -> pa.Table:
    # only an empty field is missing: "NA" may be somebody's id, and an id is never a number
    as_text = pacsv.ConvertOptions(column_types={"id": pa.string()}, null_values=[""], strings_can_be_null=True)
    return pacsv.read_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True), convert_options=as_text)


def _refuse_strange(rename: Mapping[str, str], data: Dataset) -> None:
    for ours in rename.values():
        if ours not in data.label_names:
            raise UnknownNameError.of("label of the data", ours, data.label_names)


def _columns_of(label: str, columns: list[str], rename: Mapping[str, str]) -> list[str]:
    """Columns with probabilities of a label; a label that is renamed no longer stands for itself."""
    theirs = [name for name, ours in rename.items() if ours == label]
    theirs += [label] if label not in rename and not theirs else []
    found = [next((each for each in (f"p_{name}", name) if each in columns), None) for name in theirs]
    return [each for each in found if each is not None]


def _sums(table: pa.Table, columns: Mapping[str, list[str]], path: Path) -> np.ndarray[Any, Any]:
    found = np.zeros((table.num_rows, len(columns)))
    for place, named in enumerate(columns.values()):
        for name in named:
            found[:, place] += _numbers(table[name], path, name)
    return found


def _numbers(column: pa.ChunkedArray, path: Path, label: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid as cause:
        raise TableError(f"{path}: the probabilities of {label!r} are not all numbers", got=str(cause)) from cause


def _one_hot(table: pa.Table, data: Dataset, path: Path, rename: Mapping[str, str]) -> np.ndarray[Any, Any]:
    column = next((each for each in HARD if each in table.column_names), None)
    if column is None:
        raise InputError(
            f"{path} has no predictions",
            expected=f"a column of probabilities per label ({some(data.label_names)}), or a column 'prediction'",
            got=str(table.column_names),
        )
    other = rename.get(ALL_OTHERS)
    said = [rename.get(str(each), other or str(each)) for each in table[column].cast(pa.string()).to_pylist()]
    for each in dict.fromkeys(said):
        if each not in data.label_names:
            raise UnknownNameError.of("label", str(each), data.label_names)
    codes = [data.label_names.index(each) for each in said]
    return np.eye(len(data.label_names))[codes]
