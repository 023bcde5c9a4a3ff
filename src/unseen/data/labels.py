"""Labels: their names, declared or found, and their order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.values import STRINGS, as_strings, as_text
from unseen.errors import InputError


@dataclass(frozen=True)
class Declared:
    """Labels that the user or the source declares."""

    names: tuple[str, ...]
    raw: Mapping[str, str]
    """Label name of each value in the source."""

    def rename(self, labels: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of the source as label names; undeclared ones become null."""
        names = pa.array(self.raw.values(), type=STRINGS)
        found = pc.index_in(labels, value_set=pa.array(self.raw, type=STRINGS))
        return pa.chunked_array([names.take(chunk) for chunk in found.chunks], type=STRINGS)


def declare(labels: Sequence[Any] | Mapping[Any, str] | None, from_source: Sequence[str] | None) -> Declared | None:
    """The declared labels; what the user says goes before what the source says. None when nobody declares."""
    declared = from_source if labels is None else labels
    if declared is None:
        return None
    if isinstance(declared, str | bytes) or not isinstance(declared, Mapping | Sequence):
        raise InputError(
            "labels must be names in their order, or a mapping of values to names",
            expected="labels=('no', 'yes') or labels={'0': 'no', '1': 'yes'}",
            got=repr(declared),
        )
    pairs = declared.items() if isinstance(declared, Mapping) else [(name, name) for name in declared]
    raw: dict[str, str] = {}
    for value, name in pairs:
        _add(raw, value, name)
    names = tuple(dict.fromkeys(raw.values()))
    if len(names) < 2:
        raise InputError("labels declares fewer than two labels", expected="two or more", got=str(list(names)))
    return Declared(names, raw)


def _add(raw: dict[str, str], value: Any, name: Any) -> None:
    key, text = as_text(value), as_text(name)
    if not (key and key.strip() and text and text.strip()):
        raise InputError("a declared label is empty", got=f"{value!r}: {name!r}", fix="leave unlabelled values out")
    if key in raw:
        raise InputError(f"the label {key!r} is declared twice", fix="name each label once")
    raw[key] = text


def label_strings(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """Labels as strings; null where there is nothing but space."""
    strings = as_strings(column, what)
    return pc.if_else(is_blank(strings), pa.scalar(None, STRINGS), strings)


def is_blank(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """True where a string is missing, empty or only white space."""
    return pc.fill_null(pc.or_(pc.equal(strings, ""), pc.utf8_is_space(strings)), True)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Found labels in the order used when none is declared: numbers by value, then words by alphabet."""
    return tuple(sorted(names, key=lambda name: (_number(name), name)))


def _number(name: str) -> float:
    try:
        value = float(name)
    except ValueError:
        return math.inf
    return math.inf if math.isnan(value) else value
