"""A run folder as a browser needs it: points, texts, and what is known of one text.

What is heavy is imported when it is first needed: the viewer starts in a second.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import InputError, MismatchError
from unseen.reports.record import RunRecord, read_record, tried
from unseen.store.predictions import labels_by_column
from unseen.types import Dataset

if TYPE_CHECKING:
    from unseen.reports.page import Page
    from unseen.reports.points import RunPoints

REPORT = "report.html"
MOST_PAIRS = 500
"""Near-duplicates on a page, the most alike first."""
MOST_CASES = 2_000
FAILURES = "failures.csv"


class OpenRun:
    """One finished run; what it holds is read when it is first looked at."""

    def __init__(self, folder: str | Path, data: Dataset | None = None) -> None:
        self.folder = Path(folder)
        self.record: RunRecord = read_record(self.folder)
        if data is not None and data.fingerprint != self.record.about.get("data", {}).get("fingerprint"):
            raise MismatchError(
                f"the data is not what the run in {self.folder} was made of", got=data.name,
                fix="name the data as it was then, or look without texts",
            )  # fmt: skip
        self._data = data

    @property
    def name(self) -> str:
        """What it is called in a list."""
        return self.folder.resolve().name

    @cached_property
    def page(self) -> Page:
        """What its report says, with what people have said about its texts."""
        from unseen.reports.review import with_reviews
        from unseen.runs.frame import page_of

        return page_of(with_reviews(self.record))

    @property
    def has_map(self) -> bool:
        """Whether its texts are points."""
        return any(len(latent.points) for latent in self.record.maps.values())

    @cached_property
    def points(self) -> RunPoints | None:
        """Its texts as points; None where it has no map."""
        from unseen.reports.points import points_of

        spaces = ["map", *(name for name in self.record.maps if name != "map")]
        return next((made for name in spaces if (made := points_of(self.record, name, False)) is not None), None)

    @cached_property
    def packed(self) -> bytes:
        """The points as the browser reads them, all ids with them."""
        from unseen.reports.points import packed

        return b"" if self.points is None else packed(self.points, id_bytes=1 << 40)

    @cached_property
    def texts(self) -> pa.ChunkedArray | None:
        """The texts in the order of the points; None where they were not kept and the data is not at hand."""
        from unseen.reports.points import text_table

        table = self._data.table if self._data is not None else text_table(self.folder)
        if self.points is None or table is None or "text" not in table.column_names:
            return None
        at = pc.index_in(self.points.ids, value_set=table["id"].cast(pa.large_string()).combine_chunks())
        return pc.fill_null(table["text"].cast(pa.large_string()).take(at), "")

    @cached_property
    def places(self) -> dict[str, int]:
        """The point of each id."""
        return {} if self.points is None else {key: row for row, key in enumerate(self.points.ids.to_pylist())}

    def search(self, words: str) -> list[int]:
        """The points whose text or id holds all of these words, in any case."""
        if self.points is None:
            return []
        mask = None
        for word in words.split():
            inside = pc.match_substring(self.points.ids, word, ignore_case=True)
            if self.texts is not None:
                inside = pc.or_(inside, pc.match_substring(self.texts, word, ignore_case=True))
            mask = inside if mask is None else pc.and_(mask, inside)
        return [] if mask is None else np.flatnonzero(mask.to_numpy()).tolist()

    def text(self, row: int) -> str | None:
        """One text, where texts are at hand."""
        return None if self.texts is None else self.texts[row].as_py()

    def details(self, row: int) -> dict[str, Any]:
        """What is known of a text besides its columns: the text, every answer to it, its neighbours, its words."""
        points = self.points
        if points is None or not 0 <= row < len(points):
            raise InputError(f"there is no text {row}")
        key = points.ids[row].as_py()
        return {
            "id": key, "text": self.text(row), "answers": self._answers(key), "nearest": self._neighbours(row),
            "highlights": points.highlights.get(key) if "words" in points.highlights.get(key, {}) else None,
        }  # fmt: skip

    def _answers(self, key: str) -> list[dict[str, Any]]:
        """What each model said that had not seen it: [{"by": "closest-seed42", "hate": .9, …}]."""
        answers = []
        for name, table in self._answer_tables.items():
            at = pc.index(table["id"], key).as_py()
            if at >= 0:
                labels = labels_by_column(table.column_names, self.record.label_names)
                probabilities = {label: table[column][at].as_py() for column, label in labels.items()}
                answers.append({"by": name, "probabilities": probabilities})
        return answers

    @cached_property
    def _answer_tables(self) -> dict[str, pa.Table]:
        from unseen.reports.points import answer_table, gives_probabilities

        files = sorted((self.folder / "predictions").glob("*-seed*.parquet"))
        read = {path.stem: tried(answer_table, path, []) for path in files}
        return {name: table for name, table in read.items() if table is not None and gives_probabilities(table)}

    @cached_property
    def _vectors(self) -> npt.NDArray[np.float32] | None:
        from unseen.reports.points import vectors_of

        return None if self.points is None else vectors_of(self.record, len(self.points))

    def _neighbours(self, row: int) -> list[dict[str, Any]]:
        """The nearest training texts of the split that tests it."""
        from unseen.reports.points import NEAREST
        from unseen.splits.neighbours import nearest_rows

        points = self.points
        assert points is not None
        tested = points.by_name.get("tested by")
        part = points.by_name.get(f"part in {tested.names[tested.codes[row]]}") if tested is not None else None
        if part is None or self._vectors is None or "train" not in part.names:
            return []
        among = np.flatnonzero(part.codes == part.names.index("train"))
        if len(among) < NEAREST:
            return []
        near, _ = nearest_rows(self._vectors, np.array([row]), among, NEAREST)
        return [self._described(one) for one in near[0].tolist()]

    def _described(self, row: int) -> dict[str, Any]:
        """A text beside another one."""
        assert self.points is not None
        labels = self.points.columns[0]
        label = labels.names[labels.codes[row]]
        return {"row": row, "id": self.points.ids[row].as_py(), "label": label, "text": self.text(row)}

    @cached_property
    def pairs(self) -> list[dict[str, Any]]:
        """Near-duplicates beside each other, the most alike first; the parts of each in every split."""
        from unseen.duplicates import near_pairs

        points, texts = self.points, self.texts
        if points is None or texts is None:
            return []
        near, copies = near_pairs(texts), np.arange(len(texts))
        copies = copies[near.stands_for != copies]
        left = np.concatenate([near.stands_for[copies], near.first])
        right = np.concatenate([copies, near.second])
        similarity = np.concatenate([np.ones(len(copies)), near.similarity])
        order = np.argsort(-similarity, kind="stable")[:MOST_PAIRS]
        parts = [column for column in points.columns if column.name.startswith("part in ")]
        shown = []
        for a, b, alike in zip(left[order], right[order], similarity[order], strict=True):
            across = [
                column.name.removeprefix("part in ")
                for column in parts
                if {column.names[column.codes[a]], column.names[column.codes[b]]} == {"train", "test"}
            ]
            one, other = self._described(int(a)), self._described(int(b))
            shown.append({"a": one, "b": other, "alike": float(alike), "across": across,
                          "marked": marked(one["text"], other["text"])})  # fmt: skip
        return sorted(shown, key=lambda pair: (not pair["across"], -pair["alike"]))

    @cached_property
    def cases(self) -> list[dict[str, str]]:
        """The failed cases of a check."""
        path = self.folder / FAILURES
        if self.record.kind != "check" or not path.is_file():
            return []
        with path.open(encoding="utf-8", newline="") as file:
            return [dict(row) for row, _ in zip(csv.DictReader(file), range(MOST_CASES), strict=False)]


def marked(a: str, b: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Both texts in pieces, each with whether the other text lacks it."""
    left, right = (re.findall(r"\s+|\S+", text) for text in (a, b))
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    pieces: tuple[list[tuple[str, bool]], list[tuple[str, bool]]] = ([], [])
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        for side, words in zip(pieces, (left[a0:a1], right[b0:b1]), strict=True):
            if words:
                side.append(("".join(words), kind != "equal"))
    return pieces


def opened(folders: Sequence[str | Path], data: Dataset | None = None) -> list[OpenRun]:
    """The runs in these folders; a folder that holds run folders stands for all of them."""
    runs: list[OpenRun] = []
    for folder in map(Path, folders):
        inner = [] if (folder / "run.json").exists() else sorted(path.parent for path in folder.glob("*/run.json"))
        runs += [OpenRun(one, data) for one in inner or [folder]]
    return runs
