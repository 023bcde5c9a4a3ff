"""Transformed versions of texts: from a file, a column, a function, or a perturbation; one for each text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from unseen.data.tables import column_names, read_strings
from unseen.errors import InputError, MismatchError
from unseen.functional.alterations import perturbation
from unseen.registry import Registry, require_known
from unseen.types import Dataset, some, string_array

Transform = Callable[[list[str]], Sequence[str | None]]
PLACES = Registry("transformation", {})


def read_transformed(path: str | Path, data: Dataset, text: str = "text", id: str | None = None) -> list[str]:
    """The texts of a CSV or JSON file in the order of `data`: by the column `id`, or without one row by row."""
    columns = column_names(path)
    require_known(f"column of {path}", columns, text, fix="transformed texts have the column of --text")
    by_id = id or ("id" if "id" in columns and _has_own_ids(data) else None)
    if by_id is not None:
        require_known(f"column of {path}", columns, by_id)
    names = [text] if by_id is None else [by_id, text]
    rows = {name: values.to_pylist() for name, values in read_strings(path, names, "transformed texts").items()}
    texts = [value or "" for value in rows[text]]
    if by_id is None:
        if len(texts) != len(data):
            raise MismatchError(
                f"{path} has another number of texts than {data.name}", expected=f"{len(data):,}, in the same order",
                got=f"{len(texts):,}", fix="give both files a column 'id'",
            )  # fmt: skip
        return texts
    by_key = dict(zip(rows[by_id], texts, strict=True))
    if len(by_key) < len(texts):
        raise MismatchError(f"ids of {path} repeat", got=f"{len(texts) - len(by_key):,} rows with the id of another")
    ids = data.ids.to_pylist()
    missing = [key for key in ids if key not in by_key]
    if missing:
        raise MismatchError(
            f"{path} lacks {len(missing):,} of the {len(ids):,} texts of {data.name}", got=f"no row {some(missing)}",
            expected="a row for every id; an empty text where the transformation gave nothing",
        )  # fmt: skip
    return [by_key[key] for key in ids]


def column_texts(data: Dataset, name: str) -> list[str]:
    """The texts of an attribute; nothing where it has none."""
    return [value or "" for value in data.attribute(name).cast(pa.large_string()).to_pylist()]


def function_texts(data: Dataset, function: Transform | str, *, trust: bool = False) -> list[str]:
    """What a function of a list of texts makes of the texts; one at a place, `module:function`, runs with trust."""
    if isinstance(function, str):
        if not trust:
            raise InputError(f"{function!r} is code that runs only with trust=True")
        function = PLACES.get(function)
    if not callable(function):
        raise InputError("a transformation is a function of a list of texts", got=type(function).__name__)
    given = data.texts.to_pylist()
    name = getattr(function, "__name__", type(function).__name__)
    try:
        made = list(function(given))
    except Exception as cause:
        raise InputError(f"{name} failed on {len(given)} texts: {type(cause).__name__}: {cause}") from cause
    if len(made) != len(given):
        raise MismatchError(
            f"{name} gave another number of texts", expected=f"{len(given):,}, one for each", got=f"{len(made):,}"
        )
    wrong = next((value for value in made if value is not None and not isinstance(value, str)), None)
    if wrong is not None:
        raise InputError(f"{name} gave {type(wrong).__name__}", expected="a text for each text, or None")
    return [value or "" for value in made]


def perturbed_texts(data: Dataset, name: str, seed: int = 42) -> list[str]:
    """The texts after a perturbation; those that it does not apply to stay as they are."""
    alter = perturbation(name, seed=seed)
    pairs = zip(data.ids.to_pylist(), data.texts.to_pylist(), strict=True)
    return [text if (made := alter(key, text)) is None else made for key, text in pairs]


def with_texts(data: Dataset, texts: Sequence[str], name: str) -> Dataset:
    """The same rows with other texts."""
    return replace(data.with_column("text", string_array(list(texts))), name=name)


def _has_own_ids(data: Dataset) -> bool:
    """Whether ids were given; those made from texts are no use for other texts."""
    columns: Mapping[str, Any] = data.origin.params.get("columns", {"id": "id"})
    return columns.get("id") is not None
