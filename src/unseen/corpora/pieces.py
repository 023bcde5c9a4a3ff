"""The texts of a corpus in pieces: each is checked, and known by its content."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.corpora.stretches import in_pieces, stretches
from unseen.data.ids import DIGITS, made_ids
from unseen.data.labels import is_blank, label_strings
from unseen.data.records import column_of
from unseen.data.values import as_strings
from unseen.errors import SHOWN_PROBLEMS, TableError
from unseen.types import some


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
        wanted = list(dict.fromkeys([self.text, *([self.id] if self.id else [])]))
        for table in in_pieces((self._named(each, file) for each in stretches(Path(file), wanted)), self.batch):
            yield table.combine_chunks()

    def _named(self, table: pa.Table, file: str) -> pa.Table:
        texts = as_strings(table[self.text], column_of(self.text, file))
        if self.id is not None:
            return pa.table({"id": label_strings(table[self.id], column_of(self.id, file)), "text": texts})
        # of a repeated text only the hash, without the number that made_ids adds: numbers would depend on the cut
        ids = pc.utf8_slice_codeunits(made_ids(pc.fill_null(texts, "")), 0, DIGITS)
        return pa.table({"id": ids, "text": texts})


@dataclass(frozen=True)
class Piece:
    """A part of a corpus."""

    file: str
    key: str
    rows: int


def survey(texts: Texts, work: str) -> list[Piece]:
    """Every piece of the corpus, after one look at all its rows; `work` says what will be done with them.

    Refuses absent and empty texts, absent ids and ids that occur twice, all problems at once: what would stop
    days of work is found before it begins. Holds 8 bytes per row, not the rows.
    """
    found, hashes, problems = [], [], []
    for file in texts.files:
        row = 0
        for table in texts.pieces(file):
            problems += problems_of(table, file, row)
            found.append(Piece(file, piece_key(table, work), len(table)))
            hashes.append(hashes_of(table["id"]))
            row += len(table)
    if not found:
        raise TableError("the corpus has no rows", got=some(texts.files))
    problems += [] if problems else _repeats(texts, hashes)
    if problems:
        raise TableError(
            "the corpus cannot be encoded as it is",
            problems=problems,
            expected="a text in every row, and an id of its own",
            fix="remove these rows" + ("" if texts.id else ", or name a column of ids: id=… (--id)"),
        )
    return found


def problems_of(table: pa.Table, file: str, first: int) -> list[str]:
    """What is wrong with the rows of a piece that begins at row `first` of its file."""
    blank = {f"no {name}": is_blank(table[name]) for name in ("text", "id")}
    found = {what: np.flatnonzero(mask.to_numpy()) + first for what, mask in blank.items()}
    return [
        f"{file}: {len(rows)} rows have {what}: {some(rows, SHOWN_PROBLEMS)} (the first is row 0)"
        for what, rows in found.items()
        if len(rows)
    ]


def piece_key(table: pa.Table, work: str) -> str:
    """Hash of what is done and of the ids and texts it is done with, in their order."""
    digest = hashlib.sha256(work.encode())
    for name in ("id", "text"):
        column = table[name]
        digest.update(pc.fill_null(pc.binary_length(column), -1).to_numpy().tobytes())
        digest.update("".join(each or "" for each in column.to_pylist()).encode())
    return digest.hexdigest()[:32]


def hashes_of(ids: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """64 bits of each id's content."""
    digests = (hashlib.blake2b((each or "").encode(), digest_size=8).digest() for each in ids.to_pylist())
    return np.frombuffer(b"".join(digests), np.uint64)


def _repeats(texts: Texts, hashes: Iterable[npt.NDArray[np.uint64]]) -> list[str]:
    """One line per id that occurs twice. Hashes can be equal by chance, so those that are get a second look."""
    every = np.concatenate(list(hashes))
    every.sort()
    suspects = np.unique(every[1:][every[1:] == every[:-1]])
    if not len(suspects):
        return []
    counts: Counter[str] = Counter()
    for file in texts.files:
        for table in texts.pieces(file):
            counts.update(table["id"].filter(pa.array(np.isin(hashes_of(table["id"]), suspects))).to_pylist())
    return [f"the id {name!r} occurs {count} times" for name, count in counts.items() if count > 1]
