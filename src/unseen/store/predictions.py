"""Predictions as tables: ours and anyone's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from unseen.errors import InputError, MismatchError, TableError, UnknownNameError
from unseen.label_maps import ALL_OTHERS, rename_hint, renamed
from unseen.store.files import as_written, atomic, door, harmless, missing_file, sha256_of, unharmed, write_rows
from unseen.types import Dataset, Origin, Predictions, some, string_array

HARD = ("prediction", "predicted", "pred", "label")
"""Columns that may hold a predicted label where there are no probabilities."""
DEPTH = "exit_depth"
"""The column with the layers that each answer took, of classifiers that stop early."""


def read_predictions(path: str | Path, data: Dataset, rename: Mapping[str, str] | None = None) -> Predictions:
    """The predictions in a CSV or Parquet file for the labels of `data`.

    A column `id`, and either one column of probabilities per label, named by the label (or `p_` and the
    label), or one column `prediction` with a label in each row. Predicted labels become probabilities of
    one and zero, and the origin says `hard`: such predictions have no ranking and no calibration.

    `rename` maps the file's labels to those of the data, {theirs: ours}; probabilities of labels that become
    one are added, and `*` stands for all predicted labels that are not named. Of two labels, one column of
    probabilities is enough where it is the only one: `{"score": "yes"}`.
    """
    path = Path(path)
    if not path.exists():
        raise missing_file(path)
    with door(path, "predictions"):
        return _read(path, data, dict(rename or {}))


def _read(path: Path, data: Dataset, rename: Mapping[str, str]) -> Predictions:
    table = pq.read_table(path) if path.suffix == ".parquet" else _read_csv(path, data)
    _refuse_header(table.column_names, path)
    for ours in rename.values():
        if ours not in data.label_names:
            raise UnknownNameError.of("label of the data", ours, data.label_names)
    columns = _columns_by_label(table, data, path, rename)
    values = _one_hot(table, data, path, rename) if columns is None else _sums(table, columns, path)
    origin = Origin("given", {"file": path.name, "hard": columns is None} | ({"rename": rename} if rename else {}))
    ids = [name or "" for name in table["id"].cast(pa.large_string()).to_pylist()]
    if path.suffix != ".parquet":
        ids = as_written(ids, data.ids.to_pylist())
    if ids and not {*ids} & {*data.ids.to_pylist()}:
        raise MismatchError(
            f"no id of {path} is an id of {data.name}",
            expected=f"ids such as {some(data.ids[:3].to_pylist())}",
            got=some(ids, 3),
            fix="name the column of the data that holds these ids: id=…; without one, ids are made from texts",
        )
    return Predictions(string_array(ids), values, data.label_names, origin, _depths(table, data, path))


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
    if path.suffix == ".csv":
        # Python's shortest form of a float is read back as the same float
        cells = [
            map(harmless, values) if isinstance(values, list) else map(repr, values.tolist())
            for values in columns.values()
        ]
        ids = map(harmless, predictions.ids.to_pylist())
        return write_rows(path, ["id", *map(harmless, columns)], zip(ids, *cells, strict=True))
    with atomic(path) as temporary:
        pq.write_table(pa.table({"id": predictions.ids} | columns), temporary, compression="zstd")
    return path


def _columns(predictions: Predictions) -> dict[str, Any]:
    depths = {} if predictions.depths is None else {DEPTH: predictions.depths}
    return _answers(predictions) | depths


def _answers(predictions: Predictions) -> dict[str, Any]:
    names = predictions.label_names
    if predictions.origin.params.get("hard") and not {"id", *HARD} & set(names):
        return {"prediction": [names[code] for code in predictions.probabilities.argmax(axis=1)]}
    ambiguous = {"id", DEPTH} & set(names) or any(f"p_{name}" in names for name in names)
    columns = [f"p_{name}" if ambiguous else name for name in names]
    return dict(zip(columns, predictions.probabilities.T, strict=True))


def labels_by_column(columns: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """The label that each column of answers is called after: `LABEL`, or `p_LABEL` where that would be ambiguous."""
    ambiguous = bool(labels) and {f"p_{label}" for label in labels} <= {*columns}
    return {name: name.removeprefix("p_") if ambiguous else name for name in columns if name != "id"}


def _read_csv(path: Path, data: Dataset) -> pa.Table:
    """Every column as text: `01`, `True` and `NA` may be somebody's label or id; only an empty field is missing."""
    if not path.stat().st_size:
        raise TableError(f"{path} is empty", expected="a column id, and what was predicted for each", got="no bytes")
    lines = pacsv.ParseOptions(newlines_in_values=True)
    with pacsv.open_csv(path, parse_options=lines) as opened:
        names = opened.schema.names
    as_text = pacsv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), null_values=[""], strings_can_be_null=True
    )
    table = pacsv.read_csv(path, parse_options=lines, convert_options=as_text)
    known = {"id", DEPTH, *HARD, *data.label_names, *(f"p_{name}" for name in data.label_names)}
    guarded = [name for name in names if known & {name, unharmed(name)}]
    meant = dict(zip(guarded, as_written(guarded, known), strict=True))
    return table.rename_columns([meant.get(name, name) for name in names])


def _depths(table: pa.Table, data: Dataset, path: Path) -> np.ndarray[Any, Any] | None:
    """The layers that answers took, where the file says it; a label of that name is no depth."""
    if DEPTH not in table.column_names or (DEPTH in data.label_names and f"p_{DEPTH}" not in table.column_names):
        return None
    return _numbers(table[DEPTH], path, DEPTH).astype(np.int16)


def _refuse_header(names: list[str], path: Path) -> None:
    if "id" not in names:
        raise InputError(f"{path} has no column 'id'", expected="id, then a probability per label", got=str(names))
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"{path} has two columns of one name", got=some(repeated))


def _columns_by_label(
    table: pa.Table, data: Dataset, path: Path, rename: Mapping[str, str]
) -> dict[str, list[str]] | None:
    """The columns with probabilities of each label; None where the file has predicted labels only."""
    names = table.column_names
    own = {label: label for label in data.label_names if label not in rename}
    meant = own | dict(rename)
    known = {theirs: column for theirs in meant if (column := _column_of(theirs, names)) is not None}
    if not known or (ALL_OTHERS in rename and not {*known} - {*own}):
        return None
    for theirs in rename:
        if theirs not in known:
            raise UnknownNameError.of("column of probabilities", theirs, [name for name in names if name != "id"])
    columns = {label: [known[theirs] for theirs in known if meant[theirs] == label] for label in data.label_names}
    missing = [label for label in columns if not columns[label]]
    if missing and not (len(columns) == 2 and len(known) == 1 and rename):
        raise InputError(
            f"{path} lacks the probabilities of {some(missing)}", expected=f"a column per label: {some(columns)}"
        )
    others = [name for name in _probability_columns(table) if name not in known.values()]
    if missing and others:
        raise InputError(
            f"{path} has further columns that may be probabilities",
            got=some(others),
            fix="say what each stands for: THEIRS=OURS for every label of the model",
        )
    return columns


def _probability_columns(table: pa.Table) -> list[str]:
    return [name for name in table.column_names if name != "id" and _may_be_probabilities(table[name])]


def _may_be_probabilities(column: pa.ChunkedArray) -> bool:
    if pa.types.is_integer(column.type) or column.null_count == len(column):
        return False
    try:
        bounds = pc.min_max(column.cast(pa.float64())).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return bool(bounds["min"] >= 0 and bounds["max"] <= 1)


def _column_of(label: str, columns: list[str]) -> str | None:
    return next((name for name in (f"p_{label}", label) if name in columns), None)


def _sums(table: pa.Table, columns: Mapping[str, list[str]], path: Path) -> np.ndarray[Any, Any]:
    """Probabilities [rows, labels]; of two labels, one without a column has what the other leaves."""
    probabilities = np.zeros((table.num_rows, len(columns)))
    for code, names in enumerate(columns.values()):
        for name in names:
            probabilities[:, code] += _numbers(table[name], path, name)
    lacking = [code for code, names in enumerate(columns.values()) if not names]
    probabilities[:, lacking] = (1 - probabilities.sum(axis=1))[:, None]
    return probabilities


def _numbers(column: pa.ChunkedArray, path: Path, label: str) -> np.ndarray[Any, Any]:
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid as cause:
        raise TableError(f"{path}: the probabilities of {label!r} are not all numbers", got=str(cause)) from cause


def _is_data(path: Path, column: str, data: Dataset) -> bool:
    """Whether this column of `path` holds the labels that `data` was loaded with."""
    about = data.origin.params.get("columns", {})
    return bool(about.get("label") == column and data.origin.inputs.get("file") == sha256_of(path))


def _one_hot(table: pa.Table, data: Dataset, path: Path, rename: Mapping[str, str]) -> np.ndarray[Any, Any]:
    column = next((name for name in HARD if name in table.column_names), None)
    if column is None:
        raise InputError(
            f"{path} has no predictions",
            expected=f"a column of probabilities per label ({some(data.label_names)}), or a column 'prediction'",
            got=str(table.column_names),
            fix=f"if they have other names, {rename_hint(_probability_columns(table), data.label_names)}",
        )
    if blank := table[column].null_count:
        lacking = table["id"].filter(table[column].is_null()).to_pylist()
        raise TableError(f"{blank} rows of {path} have no prediction", got=f"ids {some(lacking)}")
    if _is_data(path, column, data):
        raise InputError(
            f"{path} is the data itself: its column {column!r} holds the labels that predictions are compared with",
            expected="predictions of a model, e.g. what unseen model predict wrote",
            fix="give the file of predictions, or put them in a column 'prediction' of this one",
        )
    theirs = table[column].cast(pa.string()).to_pylist()
    theirs = theirs if path.suffix == ".parquet" else as_written(theirs, {*data.label_names, *rename})
    if ALL_OTHERS in rename:
        for label in rename:
            if label != ALL_OTHERS and label not in theirs:
                raise UnknownNameError.of("predicted label", label, sorted(set(theirs)))
    ours = renamed(theirs, rename)
    for label in dict.fromkeys(ours):
        if label not in data.label_names:
            hint = rename_hint(dict.fromkeys(theirs), data.label_names)
            raise UnknownNameError.of("label", str(label), data.label_names, fix=hint)
    codes = [data.label_names.index(label) for label in ours]
    return np.eye(len(data.label_names))[codes]
