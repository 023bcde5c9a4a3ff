"""Hand labels: what people say about the validity of items, to measure rules with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.rule import Codes
from unseen.data.content import known_encoding, reading, recognise
from unseen.data.delimited import read_delimited
from unseen.data.labels import label_strings
from unseen.data.records import read_json
from unseen.data.tables import column_names
from unseen.errors import InputError, MismatchError, TableError, UnknownNameError
from unseen.types import Dataset, some

INVALID = ("no", "invalid", "0", "false")
"""What a hand label says of an item that should be flagged, when nobody says otherwise."""
LEFT_OUT = ("skipped",)
"""Labels that are no judgement. They are counted, and measured with nothing."""


@dataclass(frozen=True, eq=False)
class Gold:
    """Hand labels of some rows of a dataset."""

    rows: Codes
    """Positions of the labelled rows in the data."""
    labels: tuple[str, ...]
    second: tuple[str | None, ...] | None = None
    """Labels of a second annotator, None where there is none."""

    @property
    def values(self) -> tuple[str, ...]:
        """Labels that occur, of either annotator."""
        second = [each for each in self.second or () if each is not None]
        return tuple(sorted({*self.labels, *second}))


def invalid_labels(gold: Gold, invalid: Sequence[str] | None) -> tuple[str, ...]:
    """The labels that mean an item should be flagged: those named, or those of `INVALID` that occur."""
    if invalid:
        for name in invalid:
            if name not in gold.values:
                raise UnknownNameError.of("hand label", name, gold.values)
        return tuple(invalid)
    found = tuple(name for name in gold.values if name.lower() in INVALID)
    if not found:
        raise InputError(
            "no hand label says that an item is not valid",
            expected=f"some of {', '.join(INVALID)}",
            got=some(gold.values, 20),
            fix="say which do: invalid=['…'] (--invalid on the command line)",
        )
    return found


def read_gold(
    path: str | Path, data: Dataset, *, id: str = "id", label: str = "valid", second: str | None = None
) -> Gold:
    """The hand labels in a CSV or JSON table for rows of `data`; rows without a label are left away.

    `second` is the column of a second annotator.
    """
    path = Path(path)
    wanted = [id, label, *([second] if second else [])]
    _check_columns(path, wanted)
    with reading(path):
        file = recognise(path, known_encoding("utf-8"))
        if file.format not in ("delimited", "json"):
            raise InputError(f"{path} is not a CSV or JSON file", fix="write the hand labels as CSV")
        table = (read_delimited(file, wanted, None) if file.format == "delimited" else read_json(file, wanted)).table
    said = {name: label_strings(table[name], f"the column {name!r} of {path}") for name in wanted}
    kept = pc.and_(pc.is_valid(said[id]), pc.is_valid(said[label]))
    ids = said[id].filter(kept)
    rows = _rows(ids, data, path)
    others = None if second is None else tuple(said[second].filter(kept).to_pylist())
    return Gold(rows, tuple(said[label].filter(kept).to_pylist()), others)


def _check_columns(path: Path, wanted: Sequence[str]) -> None:
    names = column_names(path)
    for name in wanted:
        if name not in names:
            raise UnknownNameError.of(f"column of {path}", name, names, fix="name the columns of the hand labels")
    if len(set(wanted)) < len(wanted):
        raise InputError("two columns of the hand labels have one name", got=", ".join(wanted))


def _rows(ids: pa.ChunkedArray, data: Dataset, path: Path) -> Codes:
    if not len(ids):
        raise TableError(f"{path} holds no hand labels", expected="an id and a label in some row")
    repeated = len(ids) - pc.count_distinct(ids).as_py()
    if repeated:
        raise TableError(f"{repeated} rows of {path} have the id of another row", expected="one row per item")
    places = pc.index_in(ids.cast(data.ids.type), value_set=data.ids)
    if places.null_count:
        lacking = ids.filter(pc.is_null(places)).to_pylist()
        raise MismatchError(f"{len(lacking)} of {len(ids)} ids of {path} are not in {data.name}", got=some(lacking))
    found: Codes = places.to_numpy(zero_copy_only=False).astype(np.intp)
    return found
