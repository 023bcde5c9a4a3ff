"""Labels: their names, declared or found, their order, and those that may not be classes.

Doubtful are other spellings of a label, signs for nothing, several labels in one, and labels of hardly any rows.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import STRINGS, as_text
from unseen.errors import InputError
from unseen.types import some

PLACEHOLDERS = frozenset({"NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "null", "NULL", "Null", "None", "nil"})
"""What other programs write where there is no label. In text they are labels like any other; not `none`, which is a
class in many datasets."""
SEPARATORS = re.compile(r"[|;,]")
FEWEST = 10
"""Rows below which a class is rare: a tenth of them, the usual test part, is no row."""
MANY = 100
"""Rows from which on that is worth a warning: in a handful of rows, every class is rare and everybody sees it."""
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
SHOWN = 5


@dataclass(frozen=True)
class Declared:
    """Labels that the user or the source declares."""

    names: tuple[str, ...]
    raw: Mapping[str, str]
    """Label name of each value in the source."""

    def rename(self, labels: pa.ChunkedArray) -> pa.ChunkedArray:
        """The values of the source as label names; undeclared ones become null."""
        return _replaced(labels, self.raw)


def _replaced(labels: pa.ChunkedArray, names: Mapping[str, str]) -> pa.ChunkedArray:
    """The name of each label; null where it has none."""
    replacements = pa.array(names.values(), type=STRINGS)
    places = pc.index_in(labels, value_set=pa.array(names, type=STRINGS))
    return pa.chunked_array([replacements.take(chunk) for chunk in places.chunks], type=STRINGS)


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
    raw: dict[str, str] = {}
    for value, name in declared.items() if isinstance(declared, Mapping) else zip(declared, declared, strict=True):
        value_text, name_text = as_text(value), as_text(name)
        if not (value_text and value_text.strip() and name_text and name_text.strip()):
            raise InputError("a declared label is empty", got=f"{value!r}: {name!r}", fix="leave unlabelled values out")
        if value_text in raw:
            raise InputError(f"the label {value_text!r} is declared twice", fix="name each label once")
        raw[value_text] = name_text
    names = tuple(dict.fromkeys(raw.values()))
    if len(names) < 2:
        raise InputError("labels declares fewer than two labels", expected="two or more", got=str(list(names)))
    return Declared(names, raw)


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Found labels in the order used when none is declared: numbers by value, then words by alphabet."""

    def number(name: str) -> float:
        try:
            value = float(name)
        except ValueError:
            return math.inf
        return math.inf if math.isnan(value) else value

    return tuple(sorted(names, key=lambda name: (number(name), name)))


def label_counts(labels: pa.ChunkedArray) -> dict[str, int]:
    """Rows of each label."""
    return {entry["values"]: entry["counts"] for entry in pc.value_counts(labels.drop_null()).to_pylist()}


def spelling_key(label: str) -> str:
    """Equal for labels that differ by case, blanks, Unicode form, invisible characters, or as 0 and 0.0 do."""
    text = unicodedata.normalize("NFC", label).casefold()
    text = "".join(letter for letter in text if unicodedata.category(letter) not in ("Cf", "Cc") or letter.isspace())
    text = " ".join(text.split())
    return str(float(text)) if NUMBER.fullmatch(text) else unicodedata.normalize("NFC", text)


def variants(counts: Mapping[str, int], declared: Collection[str] = ()) -> dict[str, str]:
    """The label that each other spelling of it stands for: a declared one, else the most frequent."""
    order = sorted(counts, key=lambda name: (spelling_key(name), name not in declared, -counts[name], name))
    main_spelling: dict[str, str] = {}
    for _, spellings in groupby(order, key=spelling_key):
        first, *others = spellings
        main_spelling |= {other: first for other in others if other not in declared}
    return main_spelling


def merge_spellings(labels: pa.ChunkedArray, declared: Collection[str]) -> pa.ChunkedArray:
    """The labels with other spellings of one replaced by it."""
    counts = label_counts(labels)
    main_spelling = variants(counts | dict.fromkeys(declared, 0) | counts, declared)
    return pc.coalesce(_replaced(labels, main_spelling), labels) if main_spelling else labels


def placeholders(names: Collection[str]) -> list[str]:
    """Names that stand for no label in other programs."""
    return [name for name in names if name in PLACEHOLDERS]


def several(names: Collection[str]) -> list[str]:
    """Names made of others: every part of `a, b` or `a; b` is a name, or part of another such name.

    Nobody writes `|` within one label: `a|b` is always several.
    """
    parts = {name: [part.strip() for part in SEPARATORS.split(name)] for name in names}
    uses = Counter(part for own in parts.values() for part in dict.fromkeys(own))
    joined = {name: [uses[part] > 1 for part in own] for name, own in parts.items() if len(own) > 1 and all(own)}
    return [name for name, known in joined.items() if "|" in name or all(known)]


DOUBTS: dict[str, tuple[Callable[[Collection[str]], list[str]], str]] = {
    "placeholders": (placeholders, "labels that often mean that there is none are taken as classes"),
    "several": (several, "labels that look like several labels in one are taken as classes"),
}
"""Which names are doubtful, and what is said of them, by the word that drops their rows."""


def doubts(counts: Mapping[str, int], declared: bool) -> list[str]:
    """What a reader should know about these labels, with counts and with what to do; declared ones are only counted."""

    def counted(names: Collection[str]) -> str:
        return some((f"{name!r} ({counts[name]:,})" for name in names), SHOWN)

    sentences = []
    if other := {} if declared else variants(counts):
        pairs = [f"{_spelt(a)} ({counts[a]:,}) beside {_spelt(b)} ({counts[b]:,})" for a, b in other.items()]
        sentences.append(
            f"labels that differ only in spelling are taken as classes: {some(pairs, SHOWN)}; to merge them: merge=True"
        )
    for word, (doubtful, what) in DOUBTS.items():
        if names := [] if declared else doubtful(counts):
            sentences.append(f"{what}: {counted(names)}; to leave them out: drop=[{word!r}]")
    rare = [name for name, count in counts.items() if count < FEWEST]
    if rare and sum(counts.values()) >= MANY:
        way = "drop=['undeclared'], with the others in labels=…" if declared else "drop=['rare']"
        advice = f"; to leave them out: {way}" if len(counts) - len(rare) > 1 else ""
        sentences.append(f"classes with fewer than {FEWEST} rows: {counted(rare)}{advice}")
    return sentences


def _spelt(name: str) -> str:
    """The name in quotes; letters that are put together of others by their codes, because they look like the others."""
    return repr(name) if unicodedata.is_normalized("NFC", name) else ascii(name)
