"""Attributions as a file: ours as Parquet, and anybody's, so that they can be judged in the same way.

A row is what one method says about one text: `id`, `method`, `label`, `explains`, and the lists `tokens`, `starts`,
`ends` (characters) and `scores`. Of a file of somebody else's `id`, `starts` and `ends` are enough: highlights without
scores count one each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.explanations.subject import Spans
from unseen.store import atomic
from unseen.store.files import door
from unseen.types import Dataset, Explanation
from unseen.types.arrays import Floats

SCHEMA = pa.schema([
    ("id", pa.string()), ("method", pa.string()), ("label", pa.string()), ("explains", pa.string()),
    ("tokens", pa.list_(pa.string())), ("starts", pa.list_(pa.int32())), ("ends", pa.list_(pa.int32())),
    ("scores", pa.list_(pa.float64())),
])  # fmt: skip


def write_attributions(explanations: Iterable[tuple[Explanation, str]], path: Path, texts: bool) -> None:
    """Write explanations, each with what it explains; the tokens themselves only with `texts`."""
    rows = [
        {
            "id": one.id, "method": one.method, "label": one.label, "explains": explains,
            "tokens": list(one.tokens) if texts else None, "starts": [start for start, _ in one.spans],
            "ends": [end for _, end in one.spans], "scores": list(one.scores),
        }
        for one, explains in explanations
    ]  # fmt: skip
    with atomic(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, SCHEMA), temporary)


def read_attributions(path: str | Path, data: Dataset, spans: Sequence[Spans]) -> dict[str, list[Floats | None]]:
    """Scores of the units of each text of `data`, by method; None for texts that a method has nothing about.

    A span of the file gives its score to the units it lies on, in proportion. A file is Parquet or JSON lines.
    """
    path = Path(path)
    with door(path, "attributions: id, starts, ends and, but for highlights, scores"):
        table = pq.read_table(path) if path.suffix == ".parquet" else _json_lines(path)
    place = {key: row for row, key in enumerate(data.ids.to_pylist())}
    made: dict[str, list[Floats | None]] = {}
    problems, unknown = [], 0
    for line, row in enumerate(table.to_pylist(), 1):
        at = place.get(str(row.get("id")))
        if at is None:
            unknown += 1
            continue
        try:
            scores = _on_units(row, spans[at], len(data.texts[at].as_py()))
        except (TypeError, ValueError) as cause:
            problems.append(f"row {line}, id {row.get('id')!r}: {cause}")
            continue
        method = str(row.get("method") or path.stem)
        made.setdefault(method, [None] * len(data))[at] = scores
    if problems or not made:
        raise InputError(
            f"{path.name} does not hold attributions of these texts",
            problems=problems or [f"none of its {unknown} ids is one of the data"],
            expected="id, starts, ends, scores: a list each, of equal length, places in characters of the text",
        )
    return made


def _json_lines(path: Path) -> pa.Table:
    from pyarrow import json

    return json.read_json(path)


def _on_units(row: dict[str, Any], spans: Spans, characters: int) -> Floats:
    starts, ends = list(row.get("starts") or ()), list(row.get("ends") or ())
    scores = [1.0] * len(starts) if row.get("scores") is None else [float(score) for score in row["scores"]]
    if not len(starts) == len(ends) == len(scores):
        raise ValueError("starts, ends and scores are not of one length")
    if not np.isfinite(scores).all():
        raise ValueError("a score is no number")
    units = np.zeros(len(spans))
    for start, end, score in zip(starts, ends, scores, strict=True):
        if not 0 <= start < end <= characters:
            raise ValueError(f"{start}–{end} is not within the {characters} characters of the text")
        shared = np.array([max(0, min(end, last) - max(start, first)) for first, last in spans], np.float64)
        if shared.sum():
            units += score * shared / shared.sum()
    return units
