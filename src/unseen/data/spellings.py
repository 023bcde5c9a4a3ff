"""Labels that may not be classes: other spellings of one, signs for nothing, several in one, hardly any rows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.values import STRINGS
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


def spelling_key(label: str) -> str:
    """Equal for labels that differ by case, blanks, Unicode form, invisible characters, or as 0 and 0.0 do."""
    text = unicodedata.normalize("NFC", label).casefold()
    text = "".join(each for each in text if unicodedata.category(each) not in ("Cf", "Cc") or each.isspace())
    text = " ".join(text.split())
    return str(float(text)) if NUMBER.fullmatch(text) else unicodedata.normalize("NFC", text)


def variants(counts: Mapping[str, int], declared: Collection[str] = ()) -> dict[str, str]:
    """The label that each other spelling of it stands for: a declared one, else the most frequent."""
    order = sorted(counts, key=lambda name: (spelling_key(name), name not in declared, -counts[name], name))
    found: dict[str, str] = {}
    for _, group in groupby(order, key=spelling_key):
        first, *others = group
        found |= {other: first for other in others if other not in declared}
    return found


def merge(labels: pa.ChunkedArray, declared: Collection[str]) -> pa.ChunkedArray:
    """The labels with other spellings of one replaced by it."""
    counts = {each["values"]: each["counts"] for each in pc.value_counts(labels.drop_null()).to_pylist()}
    meant = variants(counts | dict.fromkeys(declared, 0) | counts, declared)
    if not meant:
        return labels
    places = pc.index_in(labels, value_set=pa.array(meant, type=STRINGS))
    replaced = pa.array(meant.values(), type=STRINGS).take(places.combine_chunks())
    return pc.coalesce(pa.chunked_array([replaced], type=STRINGS), labels)


def placeholders(names: Collection[str]) -> list[str]:
    """Names that stand for no label in other programs."""
    return [name for name in names if name in PLACEHOLDERS]


def several(names: Collection[str]) -> list[str]:
    """Names made of others: every part of `a|b` is a name, or part of another such name."""
    parts = {name: [part.strip() for part in SEPARATORS.split(name)] for name in names}
    seen = Counter(part for each in parts.values() for part in dict.fromkeys(each))
    return [name for name, each in parts.items() if len(each) > 1 and all(part and seen[part] > 1 for part in each)]


DOUBTS = {
    "placeholders": (placeholders, "labels that often mean that there is none are taken as classes"),
    "several": (several, "labels that look like several labels in one are taken as classes"),
}


def doubts(counts: Mapping[str, int], declared: bool) -> list[str]:
    """What a reader should know about these labels, with counts and with what to do; declared ones are only counted."""
    said = []
    if other := {} if declared else variants(counts):
        pairs = [f"{a!r} ({counts[a]:,}) beside {b!r} ({counts[b]:,})" for a, b in other.items()]
        said.append(
            f"labels that differ only in spelling are taken as classes: {some(pairs, SHOWN)}; to merge them: merge=True"
        )
    for word, (found, what) in DOUBTS.items():
        if names := [] if declared else found(counts):
            said.append(f"{what}: {_counted(names, counts)}; to leave them out: drop=[{word!r}]")
    rare = [name for name, count in counts.items() if count < FEWEST]
    if rare and sum(counts.values()) >= MANY:
        way = "drop=['undeclared'], with the others in labels=…" if declared else "drop=['rare']"
        said.append(f"classes with fewer than {FEWEST} rows: {_counted(rare, counts)}; to leave them out: {way}")
    return said


def _counted(names: Collection[str], counts: Mapping[str, int]) -> str:
    return some((f"{name!r} ({counts[name]:,})" for name in names), SHOWN)
