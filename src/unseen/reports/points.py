"""The texts of a run as points: where they lie on its map, and columns of what is known of each.

The page and the viewer draw the same points, from the same bytes (`packed`), by the same script
(`templates/points.js`).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.errors import InputError
from unseen.reports.actions import SUSPECTS
from unseen.reports.case import cases, hardest_split
from unseen.reports.explain_page import HIGHLIGHTS
from unseen.reports.page import gzipped
from unseen.reports.record import BASELINE, RunRecord, tried
from unseen.seeding import generator
from unseen.splits.neighbours import nearest_rows
from unseen.store import read_json, read_split, read_suspects
from unseen.store.files import door
from unseen.store.predictions import DEPTH, labels_by_column
from unseen.types.arrays import Rows

TEXTS = "texts.parquet"
"""What a run knows of each text: label, attributes and, where it was asked to keep them, the texts."""
LEAKS = "leaks.parquet"
"""Test texts that training gives away: split, id, and the kind of the tie."""
STEPS = 200
"""A number from 0 to 1 is drawn in so many steps."""
MOST_SHOWN = 20_000
"""Points on a page, at most; the viewer shows all."""
PAGE_BYTES = 300_000
"""What the points of a page may weigh in it; where runs know more of each text, fewer are drawn."""
FEWEST_SHOWN = 2_000
PAGE_GRID = 16
"""Places on a page are multiples of it: 4,096 to a side, a thirtieth of what lies between 20,000 points."""
MOST_NAMES = 200
"""Values that a column to colour by may have; what has more, such as a name of an author, is none."""
ID_BYTES = 60_000
"""Packed ids that a page may carry; others are told by the number of their row."""
NEAREST = 3
"""Training texts that are named beside a test text."""
RUNNERS_UP = 3
"""Labels beside the answer whose probability a point tells, at most; the others share what is left."""
NONE = "–"


@dataclass(frozen=True, eq=False)
class Column:
    """Something known of every point: one of some names, or a number from 0 to 1."""

    name: str
    codes: npt.NDArray[np.unsignedinteger[Any]]
    """Places in `names`, or steps of the number."""
    names: tuple[str, ...] = ()
    """Empty for a number."""

    @classmethod
    def of_values(cls, name: str, values: pa.Array | pa.ChunkedArray, first: Sequence[str] = ()) -> Column:
        """A column of names, those of `first` in their order; what is missing is called –."""
        encoded = pc.fill_null(values.cast(pa.large_string()), NONE).dictionary_encode()
        encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
        names = encoded.dictionary.to_pylist()
        rank = {known: place for place, known in enumerate(first)}
        order = sorted(range(len(names)), key=lambda at: (names[at] == NONE, rank.get(names[at], len(rank)), names[at]))
        place = np.empty(len(names), np.int64)
        place[order] = np.arange(len(names))
        codes = place[encoded.indices.to_numpy(zero_copy_only=False)]
        return cls(name, codes.astype(np.min_scalar_type(max(1, len(names)))), tuple(names[at] for at in order))

    @classmethod
    def of_numbers(cls, name: str, values: npt.NDArray[np.floating[Any]]) -> Column:
        """A column of numbers from 0 to 1; what is not known is STEPS + 1."""
        known = np.isfinite(values)
        codes = np.where(known, np.rint(np.clip(np.nan_to_num(values), 0, 1) * STEPS), STEPS + 1)
        return cls(name, codes.astype(np.uint8))


class PointAnswers(NamedTuple):
    """What models said of the texts that they had not seen."""

    columns: Sequence[Column] = ()
    labels: tuple[str, ...] = ()
    """Everything that they could have answered; nothing where they give no probabilities."""
    runners_up: Sequence[tuple[Column, Column]] = ()
    """The likeliest labels after the answer, each with its probability; a last label has what the others leave."""


@dataclass(frozen=True, eq=False)
class RunPoints:
    """The texts of a run in the order of its data."""

    ids: pa.ChunkedArray
    places: npt.NDArray[np.uint16]
    """[points, 2], stretched to the whole range."""
    columns: Sequence[Column]
    rows: Rows
    """Numbers of the rows of the data, from 0."""
    nearest: npt.NDArray[np.int64]
    """[points, NEAREST]: points of the training part that are nearest to a test text of the hardest split; -1: none."""
    highlights: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Texts that the run was asked to show, by id: `text`, or `words` with the `scores` of each by method."""
    drawn_from: int = 0
    """How many there were, where these are a sample."""
    labels: tuple[str, ...] = ()
    runners_up: Sequence[tuple[Column, Column]] = ()
    """As in `PointAnswers`."""

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def by_name(self) -> dict[str, Column]:
        """The columns by their names."""
        return {column.name: column for column in self.columns}

    def some(self, most: int, seed: int = 42) -> RunPoints:
        """At most so many of them, drawn at random."""
        if len(self) <= most:
            return self
        chosen = np.sort(generator(seed, "shown points").permutation(len(self))[:most])
        new_place = np.full(len(self) + 1, -1)
        new_place[chosen] = np.arange(most)

        def drawn(column: Column) -> Column:
            return replace(column, codes=column.codes[chosen])

        return replace(
            self, ids=self.ids.take(pa.array(chosen)), places=self.places[chosen], rows=self.rows[chosen],
            columns=[*map(drawn, self.columns)], nearest=new_place[self.nearest[chosen]], drawn_from=len(self),
            runners_up=[(drawn(label), drawn(share)) for label, share in self.runners_up],
        )  # fmt: skip


# -- from a run folder -------------------------------------------------------------------------------------------------


def points_of(record: RunRecord, space: str = "map", neighbours: bool = True) -> RunPoints | None:
    """The points of a run; None where it has no map of this name."""
    latent = record.maps.get(space)
    if latent is None or not len(latent.points):
        return None
    low, high = latent.points.min(axis=0), latent.points.max(axis=0)
    centred = (latent.points - (low + high) / 2) / max(float((high - low).max()), 1e-9)
    places = np.rint((centred * [1, -1] + 0.5) * 65_535).astype(np.uint16)  # downwards, as screens count
    columns = [Column.of_values("label", pa.array(latent.labels), record.label_names), *_of_texts(record, latent.ids)]
    hard = _hard_splits(record)
    answers = _of_answers(record, latent.ids, hard, columns[0])
    columns += [*answers.columns, *_suspects(record, latent.ids), *_leaks(record, latent.ids)]
    columns += [Column.of_values(f"part in {name}", pa.array(parts)) for name, parts in latent.parts.items()]
    columns += _clusters(record, hard, len(places))
    nothing = np.full((len(places), NEAREST), -1)
    nearest = _nearest(record, latent.parts.get(hard[0]), nothing) if hard and neighbours else nothing
    return RunPoints(
        latent.ids, places, columns, np.arange(len(places)), nearest, highlights_of(record),
        labels=answers.labels, runners_up=answers.runners_up,
    )  # fmt: skip


def highlights_of(record: RunRecord) -> dict[str, Mapping[str, Any]]:
    """Texts that the run was asked to show: examples of clusters, and explained texts with scores of their words."""
    shown: dict[str, Mapping[str, Any]] = {key: {"text": text} for key, text in record.examples.items()}
    if record.folder is None:
        return shown
    for path in [*sorted((record.folder / "explanations").glob("*.json")), record.folder / HIGHLIGHTS]:
        content = tried(read_json, path, [], optional=True) or {}
        for one in content.get("texts") or ():
            if {"id", "words", "scores"} <= {*one}:
                shown[str(one["id"])] = {"words": one["words"], "scores": one["scores"]}
    return shown


def _hard_splits(record: RunRecord) -> list[str]:
    """The splits that are not random, the hardest first."""
    worst = [hardest_split(case).name for case in cases(record)[:1]] if record.kind == "stress" else []
    others = [name for name, split in record.splits.items() if split.family != BASELINE]
    return list(dict.fromkeys([*worst, *others]))


def _in_order(ids: pa.ChunkedArray, of: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Where each of `ids` stands in `of`; -1 where it does not."""
    places = pc.fill_null(pc.index_in(ids, value_set=of.combine_chunks()), -1)
    return places.to_numpy().astype(np.int64)


def text_table(folder: Path) -> pa.Table | None:
    """What a run wrote of each text; None where it wrote nothing."""
    path = folder / TEXTS
    if not path.exists():
        return None
    with door(path, "the texts of a run"):
        table = pq.read_table(path)
        if "id" not in table.column_names:
            raise InputError(f"{path} does not hold the texts of a run", expected="a column id")
    return table


def _of_texts(record: RunRecord, ids: pa.ChunkedArray) -> Iterator[Column]:
    """Attributes that have few enough values."""
    table = None if record.folder is None else text_table(record.folder)
    if table is None:
        return
    at = _in_order(ids, table["id"])
    for name in table.column_names:
        values = table[name]
        if name in ("id", "text", "label") or pa.types.is_nested(values.type):
            continue
        column = Column.of_values(name, values.take(pa.array(at, mask=at < 0)))
        if len(column.names) <= MOST_NAMES:
            yield column


def answer_table(path: Path) -> pa.Table:
    """Ids and the probability of each label, as a run wrote them."""
    with door(path, "the answers of a run"):
        table = pq.read_table(path)
        if "id" not in table.column_names or table.num_columns < 2:
            raise InputError(f"{path} does not hold answers", expected="a column id and one for each label")
    if has_depths(table):
        table = table.drop_columns(DEPTH)
    return table.set_column(table.column_names.index("id"), "id", table["id"].cast(pa.large_string()))


def has_depths(table: pa.Table) -> bool:
    """Whether answers say how many layers they took; a label of that name has probabilities instead."""
    return DEPTH in table.column_names and pa.types.is_integer(table[DEPTH].type)


def _depths(path: Path) -> list[int] | None:
    """The layers that each answer took, of a model that stops early."""
    with door(path, "the answers of a run"):
        table = pq.read_table(path)
    return table[DEPTH].to_pylist() if has_depths(table) else None


def gives_probabilities(table: pa.Table) -> bool:
    """Whether answers are probabilities, and not labels."""
    return all(pa.types.is_floating(table[name].type) for name in table.column_names if name != "id")


def _of_answers(record: RunRecord, ids: pa.ChunkedArray, hard: Sequence[str], labels: Column) -> PointAnswers:
    """What a model said that had not seen the text: of the first split that tests it, hard ones first."""
    if record.folder is None:
        return PointAnswers()
    splits = [*hard, *(name for name in record.splits if name not in hard)]
    likely = np.full((1 + RUNNERS_UP, len(ids)), NONE, object)  # the answer, then the labels that came next
    shares, asked = np.full(likely.shape, np.nan), np.full(len(ids), NONE, object)
    possible: dict[str, None] = {}
    layers = np.full(len(ids), NONE, object)
    parts = record.maps["map"].parts if "map" in record.maps else {}
    for split in splits:
        files = sorted((record.folder / "predictions").glob(f"{split}-seed*.parquet"))
        table = tried(answer_table, files[0], []) if files else None
        if table is None or split not in parts:
            continue
        at = _in_order(ids, table["id"])
        new = np.flatnonzero((at >= 0) & (asked == NONE) & (parts[split] == "test"))
        label_of = labels_by_column(table.column_names, record.label_names)
        names = list(label_of.values())
        asked[new] = split
        if (depths := _depths(files[0])) is not None:
            layers[new] = np.array([str(depth) for depth in depths], object)[at[new]]
        if not gives_probabilities(table):  # a model that gives labels only
            likely[0, new] = np.array(table[next(iter(label_of))].to_pylist(), object)[at[new]]
            continue
        possible |= dict.fromkeys(names)
        probabilities = np.vstack([table[name].to_numpy()[at[new]] for name in label_of])
        order = np.argsort(-probabilities, axis=0, kind="stable")[: len(likely)]
        likely[: len(order), new] = np.array(names, object)[order]
        shares[: len(order), new] = np.take_along_axis(probabilities, order, axis=0)
    if (asked == NONE).all():
        return PointAnswers()
    given = np.array(labels.names, object)[labels.codes]
    outcome = np.where(asked == NONE, NONE, np.where(likely[0] == given, "right", "wrong"))
    answer, *others = [Column.of_values("answer", pa.array(one), labels.names) for one in likely]
    sureness, *beside = [Column.of_numbers("sureness", one) for one in shares]
    columns = [
        answer, Column.of_values("right or wrong", pa.array(outcome)), sureness,
        Column.of_values("tested by", pa.array(asked)),
        *([] if (layers == NONE).all() else [Column.of_values("layers", pa.array(layers))]),
    ]  # fmt: skip
    return PointAnswers(columns, tuple(possible), [*zip(others, beside, strict=True)][: max(0, len(possible) - 2)])


def _suspects(record: RunRecord, ids: pa.ChunkedArray) -> Iterator[Column]:
    """The label that a witness thinks likelier than the given one."""
    path = record.file(SUSPECTS)
    if path is None:
        return
    suspects = {suspect.id: suspect.likely for suspect in tried(read_suspects, path, []) or ()}
    yield Column.of_values("suspected label", pa.array([suspects.get(key, NONE) for key in ids.to_pylist()]))


def _leaks(record: RunRecord, ids: pa.ChunkedArray) -> Iterator[Column]:
    """How training gives a test text away, in every split that has such texts."""
    path = record.file(LEAKS)
    table = None if path is None else tried(leak_table, path, [])
    if table is None:
        return
    for split in pc.unique(table["split"]).to_pylist():
        of_split = table.filter(pc.equal(table["split"], split))
        at = _in_order(ids, of_split["id"])
        yield Column.of_values(f"leak in {split}", of_split["kind"].take(pa.array(at, mask=at < 0)))


def leak_table(path: Path) -> pa.Table:
    """Test texts that leak, as a run wrote them."""
    with door(path, "the leaks of a run"):
        table = pq.read_table(path)
        if {"split", "id", "kind"} - {*table.column_names}:
            raise InputError(f"{path} does not hold leaks", expected="columns split, id and kind")
        return table.cast(pa.schema([(name, pa.large_string()) for name in table.column_names]))


def _clusters(record: RunRecord, hard: Sequence[str], count: int) -> Iterator[Column]:
    """The cluster of each text in every hard split."""
    for name in hard:
        split = tried(read_split, record.splits[name].path, [])
        if split is not None and len(split.clusters) == count and (split.clusters >= 0).any():
            numbers = pa.array(split.clusters, mask=split.clusters < 0)
            yield Column.of_values(f"cluster of {name}", pc.utf8_lpad(numbers.cast(pa.string()), 3, padding="0"))


def vectors_of(record: RunRecord, count: int) -> npt.NDArray[np.float32] | None:
    """The vectors that the map was made of, in the order of the data; None where they are not there."""
    files = [] if record.folder is None else sorted((record.folder / "vectors").glob("*.npy"))
    for file in files:
        vectors = tried(lambda path: np.load(path, mmap_mode="r"), file, [])
        if vectors is not None and vectors.ndim == 2 and len(vectors) == count:
            return vectors
    return None


def _nearest(
    record: RunRecord, parts: npt.NDArray[np.str_] | None, nothing: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The training texts that are nearest to each test text, in the space that was split."""
    vectors = vectors_of(record, len(nothing))
    if vectors is None or parts is None or (parts == "train").sum() < NEAREST:
        return nothing
    nearest = nothing.copy()
    tested = np.flatnonzero(parts == "test")
    nearest[tested], _ = nearest_rows(vectors, tested, np.flatnonzero(parts == "train"), NEAREST)
    return nearest


# -- to a browser ------------------------------------------------------------------------------------------------------


def packed_for_page(points: RunPoints) -> bytes:
    """As many of the points as a page may carry, drawn at random, packed; texts that it shows are not counted.

    Where they weigh too much, they tell less of the labels that were not the answer, before there are fewer.
    """
    points = replace(points, places=points.places // PAGE_GRID * PAGE_GRID)
    count = min(len(points), MOST_SHOWN)
    while count > FEWEST_SHOWN:
        bare = replace(points.some(count), highlights={})
        weight = len(gzipped(packed(bare)))
        if weight <= PAGE_BYTES:
            break
        if len(points.runners_up) > 1:
            points = replace(points, runners_up=points.runners_up[:-1])
        else:
            count = max(FEWEST_SHOWN, int(count * 0.99 * PAGE_BYTES / weight))
    return packed(points.some(count))


def packed(points: RunPoints, id_bytes: int = ID_BYTES) -> bytes:
    """The points as bytes for a browser: the length of a header, the header (JSON), then arrays of 4-byte alignment.

    Ids are left out where they would be larger than `id_bytes`; neighbours are listed for the points that have some.
    Numbers that rise, of rows and of points with neighbours, are told by their steps, which pack better.
    """
    ids = points.ids.to_pylist()
    near = np.flatnonzero(points.nearest[:, 0] >= 0)
    arrays: dict[str, npt.NDArray[Any]] = {
        "x": points.places[:, 0], "y": points.places[:, 1], "rows": np.diff(points.rows, prepend=0).astype(np.uint32),
        "near": np.diff(near, prepend=0).astype(np.uint32), "nearest": points.nearest[near].astype(np.int32).ravel(),
    }  # fmt: skip
    described = [{"name": column.name, "names": column.names} for column in points.columns]
    arrays |= {f"column {place}": column.codes for place, column in enumerate(points.columns)}
    for place, (label, share) in enumerate(points.runners_up):
        arrays |= {f"runner-up {place}": label.codes, f"share {place}": share.codes}
    places, offset = {}, 0
    for name, array in arrays.items():
        places[name] = [offset, array.dtype.str[1:], len(array)]
        offset += -(-array.nbytes // 4) * 4
    listed = set(ids)
    shown = {key: note for key, note in points.highlights.items() if key in listed}
    small = bool(shown) or len(gzip.compress(json.dumps(ids).encode(), mtime=0)) <= id_bytes
    header = {
        "count": len(points), "steps": STEPS, "columns": described, "arrays": places, "ids": ids if small else None,
        "highlights": shown, "drawn_from": points.drawn_from, "labels": points.labels,
        "runners_up": [label.names for label, _ in points.runners_up],
    }  # fmt: skip
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    text += b" " * (-len(text) % 4)
    body = b"".join(array.tobytes() + b"\0" * (-array.nbytes % 4) for array in arrays.values())
    return len(text).to_bytes(4, "little") + text + body
