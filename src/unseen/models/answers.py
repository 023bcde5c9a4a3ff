"""What a function or an endpoint may answer, as probabilities.

::

    [[0.2, 0.8], …]                          a row per text; the columns need names
    [{"no": 0.2, "yes": 0.8}, …]             names and probabilities
    [[{"label": "no", "score": 0.2}, …], …]  Hugging Face's form of the same
    ["no", "yes", …]                         labels only: probabilities of one and zero, marked hard
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, MismatchError, UnknownNameError
from unseen.label_maps import rename_hint
from unseen.types import some


def probabilities_of(
    answer: Any, texts: int, label_names: Sequence[str], who: str, declared: bool = True
) -> tuple[npt.NDArray[np.float64], bool]:
    """Probabilities [texts, label_names], and whether they are hard.

    Numbers without names are taken in the order of `label_names` only where these were `declared` as the
    names of the model's columns. A label that an answer leaves out has probability zero.
    """
    rows = answer.tolist() if hasattr(answer, "tolist") else answer
    if not isinstance(rows, Sequence) or isinstance(rows, str | bytes):
        raise InputError(f"{who} did not answer with a list", got=type(answer).__name__)
    if len(rows) != texts:
        raise InputError(f"{who} answered {len(rows)} rows for {texts} texts")
    if all(isinstance(row, str) for row in rows):
        return _one_hot(rows, label_names), True
    named = [_named(row) for row in rows]
    if all(row is not None for row in named):
        return _by_name(named, label_names, who), False
    return _by_position(rows, label_names, who, declared), False


def _one_hot(rows: Sequence[str], label_names: Sequence[str]) -> npt.NDArray[np.float64]:
    codes = {name: code for code, name in enumerate(label_names)}
    for label in dict.fromkeys(rows):
        if label not in codes:
            raise UnknownNameError.of("label", label, label_names, fix=rename_hint(dict.fromkeys(rows), label_names))
    return np.eye(len(label_names))[[codes[label] for label in rows]].reshape(len(rows), len(label_names))


def _named(row: Any) -> Mapping[str, Any] | None:
    """A row that carries names, as {label: probability}."""
    if isinstance(row, Mapping):
        return {row["label"]: row["score"]} if row.keys() == {"label", "score"} else row
    scored = isinstance(row, list) and all(
        isinstance(pair, Mapping) and {"label", "score"} <= pair.keys() for pair in row
    )
    return {pair["label"]: pair["score"] for pair in row} if scored and row else None


def _by_name(named: Sequence[Any], label_names: Sequence[str], who: str) -> npt.NDArray[np.float64]:
    codes = {name: code for code, name in enumerate(label_names)}
    probabilities = np.zeros((len(named), len(label_names)))
    for row, by_name in enumerate(named):
        for name, value in by_name.items():
            if str(name) not in codes:
                theirs = dict.fromkeys(str(label) for labels in named for label in labels)
                raise UnknownNameError.of("label", str(name), label_names, fix=rename_hint(theirs, label_names))
            if not isinstance(value, int | float) and not hasattr(value, "__float__"):
                raise InputError(f"{who} gave {name!r} a probability that is no number", got=repr(value))
            probabilities[row, codes[str(name)]] += float(value)
    return probabilities


def _by_position(rows: Any, label_names: Sequence[str], who: str, declared: bool) -> npt.NDArray[np.float64]:
    try:
        probabilities = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as cause:
        raise InputError(f"{who} answered neither probabilities nor labels", got=some(rows, 2)) from cause
    if probabilities.ndim != 2:
        raise InputError(f"{who} answered in the wrong shape", expected="a row per text", got=str(probabilities.shape))
    columns = probabilities.shape[1]
    if not declared:
        raise MismatchError(
            f"{who} does not say which column is which label",
            expected="names: {label: probability} per text, or label_names",
            got=f"{columns} columns of numbers",
            fix="label_names=[…] in the order of the columns",
        )
    if columns != len(label_names):
        raise MismatchError(
            f"{who} answered {columns} columns for {len(label_names)} labels", expected=some(label_names, 20)
        )
    return probabilities
