"""The texts of a corpus in pieces: read some thousand rows at a time, checked, and known by their content."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.data.columns import as_strings, filled_strings, is_blank
from unseen.data.delimited import delimited_batches
from unseen.data.files import reading, recognise
from unseen.data.records import json_batches
from unseen.data.rows import column_title
from unseen.data.selection import DIGITS, made_ids
from unseen.data.tables import column_names, parquet_batches
from unseen.errors import SHOWN_PROBLEMS, InputError, TableError, UnseenWarning
from unseen.types import some
from unseen.types.arrays import Keys


def files_of(source: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files that `source` means, sorted: a file, a folder of Parquet files, a pattern with *, several of these."""
    if not isinstance(source, str | Path):
        return sorted({file for one in source for file in files_of(one)})
    path = Path(source)
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.suffix in (".parquet", ".pq") and file.is_file()]
    elif "*" in str(source) and not path.exists():
        files = [file for file in Path(path.anchor or ".").glob(str(path.relative_to(path.anchor))) if file.is_file()]
    else:
        return [path]
    if not files:
        raise InputError(
            f"no file is meant by {source}", expected="a folder of Parquet files, or a pattern such as a/*.csv"
        )
    return sorted(files)


@dataclass(frozen=True)
class Texts:
    """Where the texts of a corpus are, and how they are cut."""

    files: tuple[str, ...]
    text: str
    id: str | None
    """None: ids are made from the texts, as `unseen.load` makes them, so no text may occur twice."""
    batch: int
    """Texts in a piece; a piece never holds those of two files."""

    def pieces(self, file: str) -> Iterator[pa.Table]:
        """The columns id and text of one file; what is wrong with them is in `problems_of`."""
        names = list(dict.fromkeys([self.text, *([self.id] if self.id else [])]))
        tables = (self._with_ids(table, file) for table in batches(Path(file), names))
        for table in in_pieces(tables, self.batch):
            yield table.combine_chunks()

    def _with_ids(self, table: pa.Table, file: str) -> pa.Table:
        texts = as_strings(table[self.text], column_title(self.text, file))
        if self.id is not None:
            return pa.table({"id": filled_strings(table[self.id], column_title(self.id, file)), "text": texts})
        # of a repeated text only the hash, without the number that made_ids adds: numbers would depend on the cut
        ids = pc.utf8_slice_codeunits(made_ids(pc.fill_null(texts, "")), 0, DIGITS)
        return pa.table({"id": ids, "text": texts})


def batches(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    """Tables of the columns `names` in file order, of no particular size; never the whole file at once."""
    with reading(path):
        file = recognise(path)
        if file.format == "parquet":
            yield from parquet_batches(path, names)
        elif file.format == "delimited":
            yield from delimited_batches(file, names)
        else:
            yield from json_batches(file, names)


def in_pieces(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The same rows in tables of `rows` rows each, the last one shorter."""
    waiting: list[pa.Table] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        while count >= rows:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, rows)
            waiting, count = [joined.slice(rows)], count - rows
    if count:
        yield pa.concat_tables(waiting)


@dataclass(frozen=True)
class Piece:
    """A part of a corpus."""

    file: str
    key: str
    rows: int


def settled_ids(texts: Texts, work: str) -> tuple[Texts, list[Piece]]:
    """The texts with the column of their ids settled, as `unseen.load` does it, and their pieces."""
    if texts.id is None and texts.text != "id" and all("id" in column_names(file) for file in texts.files):
        try:
            named = replace(texts, id="id")
            return named, survey_texts(named, work)
        except TableError as cause:
            pieces = survey_texts(texts, work)  # texts may be at fault, not ids
            warnings.warn(
                f"the column 'id' is not used, because {cause.problems[0]}; ids are made from the texts",
                UnseenWarning,
                stacklevel=3,
            )
            return texts, pieces
    return texts, survey_texts(texts, work)


def survey_texts(texts: Texts, work: str) -> list[Piece]:
    """Every piece of the corpus, after one look at all its rows; `work` says what will be done with them.

    Refuses absent and empty texts, absent ids and ids that occur twice, all problems at once: what would stop
    days of work is found before it begins. Holds 8 bytes per row, not the rows.
    """
    pieces, hashes, problems = [], [], []
    for file in texts.files:
        row = 0
        for table in texts.pieces(file):
            problems += problems_of(table, file, row)
            pieces.append(Piece(file, piece_key(table, work), len(table)))
            hashes.append(hashes_of(table["id"]))
            row += len(table)
    if not pieces:
        raise TableError("the corpus has no rows", got=some(texts.files))
    problems += [] if problems else _repeats(texts, hashes)
    if problems:
        raise TableError(
            "the corpus cannot be encoded as it is",
            problems=problems,
            expected="a text in every row, and an id of its own",
            fix="remove these rows" + ("" if texts.id else ", or name a column of ids: id=… (--id)"),
        )
    return pieces


def problems_of(table: pa.Table, file: str, first: int) -> list[str]:
    """What is wrong with the rows of a piece that begins at row `first` of its file."""
    blank = {name: np.flatnonzero(is_blank(table[name]).to_numpy()) + first for name in ("text", "id")}
    return [
        f"{file}: {len(rows)} rows have no {name}: {some(rows, SHOWN_PROBLEMS)} (the first is row 0)"
        for name, rows in blank.items()
        if len(rows)
    ]


def piece_key(table: pa.Table, work: str) -> str:
    """Hash of what is done and of the ids and texts it is done with, in their order."""
    digest = hashlib.sha256(work.encode())
    for name in ("id", "text"):
        digest.update(pc.fill_null(pc.binary_length(table[name]), -1).to_numpy().tobytes())
        digest.update("".join(value or "" for value in table[name].to_pylist()).encode())
    return digest.hexdigest()[:32]


def hashes_of(ids: pa.ChunkedArray) -> Keys:
    """64 bits of each id's content."""
    digests = (hashlib.blake2b((id or "").encode(), digest_size=8).digest() for id in ids.to_pylist())
    return np.frombuffer(b"".join(digests), np.uint64)


def _repeats(texts: Texts, hashes: Sequence[Keys]) -> list[str]:
    """One line per id that occurs twice. Hashes can be equal by chance, so those that are get a second look."""
    every = np.sort(np.concatenate(hashes))
    suspects = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(suspects):
        return []
    counts: Counter[str] = Counter()
    for file in texts.files:
        for table in texts.pieces(file):
            counts.update(table["id"].filter(pa.array(np.isin(hashes_of(table["id"]), suspects))).to_pylist())
    return [f"the id {name!r} occurs {count} times" for name, count in counts.items() if count > 1]
