"""Published layouts that are not a table with one text per row, turned into rows."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError, TableError

NUMBERED = re.compile(r"^(\d+)\. ?", re.MULTILINE)


def text_files(path: str | Path, texts: str) -> list[dict[str, Any]]:
    """Rows of the table in `path` with a column `text`, read from one file per row.

    `texts` is the place of that file beside the table, with columns in braces: `texts/{id}.txt`.
    """
    path = Path(path)
    folder = path.parent.resolve()
    rows, missing = [], []
    for line, row in _lines(path):
        place = (folder / texts.format(**row)).resolve()
        if not place.is_relative_to(folder):
            raise TableError(f"line {line} of {path} names a text outside its folder", got=str(place))
        try:
            rows.append({**row, "text": place.read_text(encoding="utf-8").strip()})
        except (OSError, UnicodeDecodeError) as cause:
            missing.append(f"line {line}: {place.name}: {cause}")
    if missing:
        raise TableError(f"{len(missing)} texts of {path} cannot be read", problems=missing)
    return rows


def numbered_turns(path: str | Path, marked: str, labels: Sequence[str]) -> list[dict[str, Any]]:
    """One row per turn of the conversations in `path`: id, text, label, conversation, post_id.

    The columns `id` and `text` hold numbered lines, one per turn; the column `marked` lists the numbers of the
    turns with the second of `labels`, the others have the first. A row's id is conversation and turn.
    """
    rows: list[dict[str, Any]] = []
    for conversation, (_, row) in enumerate(_lines(Path(path))):
        if not {"id", "text", marked} <= row.keys():
            raise InputError(
                f"{path} cannot be read as conversations",
                expected=f"the columns id, text, {marked}",
                got=", ".join(row),
                fix="a copy without texts holds ids only: get the revision with texts",
            )
        numbers = {int(each) for each in re.findall(r"\d+", row[marked])}
        post_ids = turns(row["id"])
        for number, text in turns(row["text"]).items():
            rows.append(
                {
                    "id": f"{conversation}.{number}",
                    "text": text,
                    "label": labels[number in numbers],
                    "conversation": str(conversation),
                    "post_id": post_ids.get(number, ""),
                }
            )
    return rows


def turns(numbered: str) -> dict[int, str]:
    """Text by number of `1. first` and `2. second` on lines of their own; a number out of turn is text."""
    starts: list[re.Match[str]] = []
    for found in NUMBERED.finditer(numbered):
        if int(found.group(1)) == len(starts) + 1:
            starts.append(found)
    ends = [found.start() for found in starts[1:]] + [len(numbered)]
    spans = zip(starts, ends, strict=False)
    return {number: numbered[found.end() : end].strip() for number, (found, end) in enumerate(spans, 1)}


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row, by column name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            for row in reader:
                row.pop(None, None)
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause
